#include "ci/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

namespace specbench::ci {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxLooks = 10;
constexpr std::size_t kMaxFigures = 10;
constexpr double kMaxCount = 1e15;  // whole numbers a double holds
const char* const kFigures[] = {"speedup", "e2e_speedup", "cost"};

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

void need(bool condition, const char* key, const std::string& rule, const Json& got) {
  if (condition) return;
  refuse(fmt::format("'{}' must be {}, not {}", key, rule,
                     got.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

double number(const char* key, const Json& json, double least, double most, const char* rule) {
  need(json.is_number(), key, rule, json);
  const double value = json.get<double>();
  need(std::isfinite(value) && value >= least && value <= most, key, rule, json);
  return value;
}

double open_share(const char* key, const Json& json) {
  constexpr const char* kRule = "a number above 0 and below 1";
  const double value = number(key, json, 0.0, 1.0, kRule);
  need(value > 0.0 && value < 1.0, key, kRule, json);
  return value;
}

std::int64_t whole(const char* key, const Json& json, double least, double most) {
  const std::string rule = fmt::format("a whole number of {:.0f} to {:.0f}", least, most);
  const double value = number(key, json, least, most, rule.c_str());
  need(value == std::floor(value), key, rule, json);
  return static_cast<std::int64_t>(value);
}

std::vector<int> read_looks(const Json& json) {
  constexpr const char* kRule =
      "a list of 1 to 10 rising numbers of processes, such as [10, 20, 40]";
  need(json.is_array() && !json.empty() && json.size() <= kMaxLooks, "looks", kRule, json);
  std::vector<int> looks;
  for (const Json& item : json) {
    looks.push_back(static_cast<int>(whole("looks", item, 2, 1000)));
    const std::size_t n = looks.size();
    need(n < 2 || looks[n - 2] < looks[n - 1], "looks", kRule, json);
  }
  return looks;
}

std::vector<double> read_misses(const Json& json) {
  constexpr const char* kRule = "a list of numbers above 0 and below .5, one a look";
  need(json.is_array(), "misses", kRule, json);
  std::vector<double> misses;
  for (const Json& item : json) {
    misses.push_back(open_share("misses", item));
    need(misses.back() < 0.5, "misses", kRule, json);
  }
  return misses;
}

std::vector<std::string> read_figures(const Json& json) {
  constexpr const char* kRule = "a list of 1 to 10 of speedup, e2e_speedup, cost, each once";
  need(json.is_array() && !json.empty() && json.size() <= kMaxFigures, "figures", kRule, json);
  std::vector<std::string> figures;
  for (const Json& item : json) {
    need(item.is_string(), "figures", kRule, json);
    const auto name = item.get<std::string>();
    need(std::find(std::begin(kFigures), std::end(kFigures), name) != std::end(kFigures), "figures",
         kRule, json);
    need(std::find(figures.begin(), figures.end(), name) == figures.end(), "figures", kRule, json);
    figures.push_back(name);
  }
  return figures;
}

CounterRule read_rule(const Json& json) {
  need(json == "fail" || json == "name", "counters", "\"fail\" or \"name\"", json);
  return json == "fail" ? CounterRule::kFail : CounterRule::kName;
}

bool read_flag(const char* key, const Json& json) {
  need(json.is_boolean(), key, "true or false", json);
  return json.get<bool>();
}

// False: no such key.
bool read_key(const std::string& key, const Json& json, Policy& p) {
  const char* name = key.c_str();
  if (key == "looks") return p.looks = read_looks(json), true;
  if (key == "misses") return p.misses = read_misses(json), true;
  if (key == "fail_above") return p.fail_above = open_share(name, json), true;
  if (key == "pass_below") return p.pass_below = open_share(name, json), true;
  if (key == "speedup_floor")
    return p.speedup_floor = number(name, json, 0, 1e6, "a number of 0 (none) to 1e6"), true;
  if (key == "figures") return p.figures = read_figures(json), true;
  if (key == "max_aa_width") return p.max_aa_width = open_share(name, json), true;
  if (key == "max_aa_bias") return p.max_aa_bias = open_share(name, json), true;
  if (key == "max_marked_share")
    return p.max_marked_share = number(name, json, 0, 1, "a number of 0 to 1"), true;
  if (key == "counters") return p.counters = read_rule(json), true;
  if (key == "acceptance_miss") return p.acceptance_miss = open_share(name, json), true;
  if (key == "max_certified_tv") return p.max_certified_tv = open_share(name, json), true;
  if (key == "require_lossless") return p.require_lossless = read_flag(name, json), true;
  if (key == "lossless_samples") return p.lossless_samples = whole(name, json, 0, kMaxCount), true;
  if (key == "power") return p.power = open_share(name, json), true;
  return false;
}

std::string known_keys() {
  std::string keys;
  for (const auto& [key, value] : policy_entries({})) keys += (keys.empty() ? "" : ", ") + key;
  return keys;
}

Json parse_json(std::string_view text) {
  std::set<std::string> seen;
  const auto guard = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > 3) refuse("the policy is nested too deeply; it is one object of plain values");
    if (event == Json::parse_event_t::key && depth == 1) {
      if (!seen.insert(parsed.get<std::string>()).second)
        refuse(fmt::format("'{}' is given twice", parsed.get<std::string>()));
    }
    return true;
  };
  try {
    return Json::parse(text, guard, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const Json::exception& error) {
    refuse(fmt::format("the policy is not JSON with comments ({})", error.what()));
  }
}

}  // namespace

Policy parse_policy(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object())
    refuse("the policy must be one JSON object, such as {\"fail_above\": 0.02}");
  Policy policy;
  for (auto it = json.begin(); it != json.end(); ++it) {
    if (!read_key(it.key(), *it, policy))
      refuse(fmt::format("'{}' is no key of a policy; there are {}", it.key(), known_keys()));
  }
  if (policy.looks.size() != policy.misses.size())
    refuse(fmt::format("'looks' has {} entries and 'misses' {}; give each look its level",
                       policy.looks.size(), policy.misses.size()));
  if (policy.fail_above >= policy.pass_below)
    refuse(fmt::format("'fail_above' ({}) must lie below 'pass_below' ({})", policy.fail_above,
                       policy.pass_below));
  return policy;
}

Policy read_policy(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    refuse(fmt::format("{} is no readable file; give a policy such as ci/gates/policy.json",
                       path.string()));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    refuse(fmt::format("{} cannot be read or is empty; give a policy such as ci/gates/policy.json",
                       path.string()));
  try {
    return parse_policy(text.str());
  } catch (const std::invalid_argument& fault) {
    refuse(fmt::format("{}: {}", path.string(), fault.what()));
  }
}

results::Entries policy_entries(const Policy& p) {
  return {{"looks", fmt::format("{}", fmt::join(p.looks, " "))},
          {"misses", fmt::format("{}", fmt::join(p.misses, " "))},
          {"fail_above", p.fail_above},
          {"pass_below", p.pass_below},
          {"speedup_floor", p.speedup_floor},
          {"figures", fmt::format("{}", fmt::join(p.figures, " "))},
          {"max_aa_width", p.max_aa_width},
          {"max_aa_bias", p.max_aa_bias},
          {"max_marked_share", p.max_marked_share},
          {"counters", std::string(p.counters == CounterRule::kFail ? "fail" : "name")},
          {"acceptance_miss", p.acceptance_miss},
          {"max_certified_tv", p.max_certified_tv},
          {"require_lossless", p.require_lossless},
          {"lossless_samples", p.lossless_samples},
          {"power", p.power}};
}

}  // namespace specbench::ci
