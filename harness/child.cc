#include "harness/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace specbench::harness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKept = 64 * 1024;
constexpr auto kGrace = std::chrono::seconds(10);

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  explicit Pipe(int flags) {
    int ends[2];
    if (::pipe2(ends, flags) != 0)
      throw std::runtime_error(std::string("no pipe could be made: ") + std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, int output, int failure, pid_t parent,
                         const std::vector<int>& inherited) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::kill(::getpid(), SIGKILL);
  ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
  for (const int file : inherited) ::fcntl(file, F_SETFD, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(argv[0], argv);
  const int why = errno;
  (void)!::write(failure, &why, sizeof why);
  for (;;) ::kill(::getpid(), SIGKILL);  // without our parent's exit handlers
}

void keep_tail(std::string& text, const char* data, std::size_t n) {
  text.append(data, n);
  if (text.size() > 2 * kKept) text.erase(0, text.size() - kKept);
}

// Reads until the child has closed its output and ended.
class Watch {
 public:
  Watch(pid_t child, int output, std::chrono::milliseconds timeout, const std::atomic<bool>& stop)
      : child_(child), output_(output), end_(Clock::now() + timeout), stop_(stop) {}

  ChildResult wait() {
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) == 0) {
      read_some(is_closed_ ? 5 : 500);  // seldom: a waking watcher disturbs what is timed
      end_if_due();
    }
    ::kill(-child_, SIGKILL);  // what it may have left behind
    while (read_some(0)) {
    }
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    if (result_.output.size() > kKept) result_.output.erase(0, result_.output.size() - kKept);
    return result_;
  }

 private:
  bool read_some(int wait_ms) {
    pollfd from{output_, POLLIN, 0};
    if (is_closed_ || ::poll(&from, 1, wait_ms) <= 0) {
      if (is_closed_ && wait_ms > 0) ::poll(nullptr, 0, wait_ms);
      return false;
    }
    std::array<char, 4096> buffer;
    const ssize_t n = ::read(output_, buffer.data(), buffer.size());
    if (n <= 0) {
      is_closed_ = n == 0;
      return false;
    }
    keep_tail(result_.output, buffer.data(), static_cast<std::size_t>(n));
    return true;
  }

  void end_if_due() {
    const auto now = Clock::now();
    if (!is_asked_ && (stop_ || now >= end_)) {
      result_.was_interrupted = stop_;
      result_.timed_out = !stop_;
      is_asked_ = true;
      end_ = now + kGrace;
      ::kill(-child_, SIGTERM);
    } else if (is_asked_ && now >= end_) {
      ::kill(-child_, SIGKILL);
    }
  }

  pid_t child_;
  int output_;
  Clock::time_point end_;
  const std::atomic<bool>& stop_;
  bool is_asked_ = false;
  bool is_closed_ = false;
  ChildResult result_;
};

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout,
                      const std::atomic<bool>& stop, const std::vector<int>& inherited) {
  if (arguments.empty()) throw std::invalid_argument("there is no program to run");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  Pipe output(O_CLOEXEC);
  Pipe failure(O_CLOEXEC);  // closed by a successful exec, else it carries errno
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0)
    throw std::runtime_error(std::string("no process could be started: ") + std::strerror(errno));
  if (child == 0) become(argv.data(), output.write_end, failure.write_end, parent, inherited);
  ::setpgid(child, child);  // here too: whoever comes first
  Pipe::close_end(output.write_end);
  Pipe::close_end(failure.write_end);

  int why = 0;
  ssize_t n_read = 0;
  do n_read = ::read(failure.read_end, &why, sizeof why);
  while (n_read < 0 && errno == EINTR);
  if (n_read == static_cast<ssize_t>(sizeof why)) {
    ::waitpid(child, nullptr, 0);
    throw std::invalid_argument(arguments[0] + " could not be run: " + std::strerror(why));
  }
  return Watch(child, output.read_end, timeout, stop).wait();
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace specbench::harness
