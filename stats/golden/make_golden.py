#!/usr/bin/env python3
"""Writes golden.h: what SciPy gives for the laws in stats/. Run by hand: pip install scipy; ./make_golden.py

Nothing here runs in the build. Laws that stats/ evaluates exactly must agree to 1e-12 relative.
"""
import pathlib
from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

import numpy as np
import scipy
from scipy import optimize, stats

out = []


def table(name, struct, rows, comment):
    out.append(f"// {comment}")
    out.append(f"inline constexpr {struct} {name}[] = {{")
    out.extend("    {" + ", ".join(number(x) for x in row) + "}," for row in rows)
    out.append("};\n")


def number(x):
    if isinstance(x, (list, tuple)):
        return "{" + ", ".join(number(y) for y in x) + "}"
    return str(x) if isinstance(x, int) else repr(float(x))


chi = [(x, df) for df in (1, 2, 7, 15, 63, 255) for x in (0.01, 0.5 * df, 1.0 * df, 2.0 * df, 5.0 * df + 20, 600.0)]
table("kChiSquared", "TwoTails", [(x, float(df), stats.chi2.sf(x, df), stats.chi2.cdf(x, df)) for x, df in chi],
      "x, df, chi2.sf, chi2.cdf")

levels = [(df, a, b) for df in (1, 2, 7, 15, 31, 63) for a in (1e-3, 1e-6, 1e-8) for b in (0.2, 0.01)]


def noncentrality(df, alpha, beta):
    critical = stats.chi2.isf(alpha, df)
    return optimize.brentq(lambda x: stats.ncx2.cdf(critical, df, x) - beta, 1e-3, 1e4, xtol=1e-13, rtol=1e-15)


table("kNoncentrality", "Noncentrality", [(df, a, b, noncentrality(df, a, b)) for df, a, b in levels],
      "df, alpha, beta, root of ncx2.cdf(chi2.isf(alpha, df), df, lambda) = beta")

table("kNormal", "Pair", [(z, stats.norm.sf(z)) for z in (-8.0, -3.0, -0.5, 0.0, 0.1, 1.0, 2.5, 5.0, 6.0, 12.0, 30.0)],
      "z, norm.sf")
table("kNormalQuantile", "Pair", [(p, stats.norm.isf(p)) for p in (1e-12, 5e-9, 1e-8, 1e-6, 0.001, 0.01, 0.3, 0.5, 0.975)],
      "p, norm.isf")

lam = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 0.99, 1.0, 1.01, 1.3, 2.0, 3.1, 5.0, 10.0)
table("kKolmogorovLimit", "KolmogorovLimit", [(x, stats.kstwobign.sf(x), stats.kstwobign.cdf(x)) for x in lam],
      "lambda, kstwobign.sf, kstwobign.cdf")

exact = [(d, n) for n in (1, 2, 3, 5, 10, 20, 50, 100) for d in (0.02, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95)
         if d > 0.5 / n]
table("kKolmogorovExact", "KolmogorovFinite", [(d, n, stats.kstwo.sf(d, n), stats.kstwo.cdf(d, n)) for d, n in exact],
      "d, n, kstwo.sf, kstwo.cdf, n <= 100: exact here too")

large = [(x / n**0.5, n) for n in (101, 200, 1000, 10_000, 100_000) for x in (0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 2.5, 3.1)]
table("kKolmogorovLarge", "KolmogorovFinite", [(d, n, stats.kstwo.sf(d, n), stats.kstwo.cdf(d, n)) for d, n in large],
      "d, n, kstwo.sf, kstwo.cdf, n > 100: approximated here")

rates = [(k, n, a) for n in (10, 459, 1000, 1_000_000) for k in (0, 1, n // 3, n - 1, n) for a in (0.025, 1e-3, 1e-6)]
table("kClopperPearson", "ClopperPearson",
      [(k, n, a, 0.0 if k == 0 else stats.beta.ppf(a, k, n - k + 1), 1.0 if k == n else stats.beta.isf(a, k + 1, n - k))
       for k, n, a in rates], "k, n, alpha, beta.ppf(alpha, k, n - k + 1), beta.isf(alpha, k + 1, n - k)")

trials = [(k, n, p) for n, p in ((10, 0.3), (200, 0.01), (5000, 0.5), (1_000_000, 0.62))
          for k in sorted({0, 1, int(n * p), int(n * p + 3 * (n * p * (1 - p))**0.5), int(n * p + 8 * (n * p * (1 - p))**0.5)}) if k <= n]
table("kBinomial", "Binomial", [(k, n, p, stats.binom.cdf(k, n, p), stats.binom.sf(k - 1, n, p)) for k, n, p in trials],
      "k, n, p, binom.cdf(k), binom.sf(k - 1)")

probs = [((7 * i) % 19 + 0.5) / 20 for i in range(40)]
law = stats.poisson_binom(probs)
table("kPoissonBinomial", "CountAndValue", [(k, law.pmf(k)) for k in range(0, 41, 4)],
      "k, poisson_binom(((7 i) % 19 + .5) / 20, i < 40).pmf(k)")


def expected_tv(ps, n):
    return sum(abs(k - n * p) * stats.binom.pmf(k, n, p) for p in ps for k in range(n + 1)) / (2 * n)


table("kExpectedTv", "CountAndValue", [(n, expected_tv((0.5, 0.25, 0.2, 0.05), n)) for n in (1, 7, 20, 1000)],
      "n, plug-in total variation expected of n draws from (.5, .25, .2, .05), by summing the binomial law")


def speedups(a, g, c):
    tokens = sum(a**i for i in range(g + 1))
    return tokens, tokens / (1 + g * c), tokens / (1 - c + g * c)


model = [(f"{a}", g, Fraction(1, 4)) for a in ("0.5", "0.6", "0.7", "0.8", "0.9") for g in range(1, 7)]
table("kSpeedups", "Speedups", [(float(a), g, float(c), *map(float, speedups(Fraction(a), g, c))) for a, g, c in model],
      "a, g, c, E, E / (1 + g c), E / (1 - c + g c): the article's table at c = .25, in rational arithmetic")

tables = [(2, 3, [480, 310, 210, 505, 260, 240]), (2, 4, [1000, 900, 800, 700, 2000, 1900, 1500, 1300]),
          (3, 3, [200, 150, 100, 180, 170, 110, 260, 90, 140]), (2, 2, [600, 400, 400, 600])]
table("kTables", "Table", [(r, c, list(x) + [0] * (9 - r * c), t.statistic, t.pvalue) for r, c, x in tables
                           for t in [stats.chi2_contingency(np.array(x).reshape(r, c), correction=False)]],
      "rows, columns, counts, chi2_contingency(correction=False).statistic and .pvalue; every cell expects 50 or more")

fisher = [(3, 10, 7, 12), (0, 5, 5, 5), (1, 1000, 12, 1100), (0, 40, 0, 50), (10, 10, 0, 10), (30, 400, 31, 410), (8, 14, 1, 11),
          (5, 20, 5, 20), (400, 5000, 510, 5000), (2, 1_000_000, 30, 2_000_000), (90, 100, 100, 300)]


def fisher_p(a, m, b, n):
    weights = [comb(m, x) * comb(n, a + b - x) for x in range(max(0, a + b - n), min(m, a + b) + 1)]
    p = Fraction(sum(w for w in weights if w <= comb(m, a) * comb(n, b)), sum(weights))
    assert abs(stats.fisher_exact([[a, m - a], [b, n - b]]).pvalue / p - 1) < 1e-9
    return p


table("kFisher", "FisherTable", [(*x, fisher_p(*x)) for x in fisher],
      "k_first, n_first, k_second, n_second, two-sided p in rational arithmetic (fisher_exact agrees to 1e-9)")

poisson = [(k, rate) for rate in (0.3, 4.0, 50.0, 900.0)
           for k in sorted({0, 1, int(rate), int(rate + 3 * rate**0.5), int(rate + 8 * rate**0.5 + 4), max(0, int(rate - 6 * rate**0.5))})]
table("kPoisson", "Poisson", [(k, rate, stats.poisson.cdf(k, rate), stats.poisson.sf(k - 1, rate)) for k, rate in poisson],
      "k, rate, poisson.cdf(k), poisson.sf(k - 1)")


def ljung_box(n, lags):
    x = np.array([(7919 * i * i + 104729 * i) % 10007 for i in range(n)]) / 10007.0
    x = x - x.mean()
    r = [np.dot(x[k:], x[:-k]) / np.dot(x, x) for k in range(1, lags + 1)]
    return n * (n + 2) * sum(r[k - 1]**2 / (n - k) for k in range(1, lags + 1))


table("kLjungBox", "LjungBox", [(n, lags, ljung_box(n, lags)) for n, lags in ((20, 1), (50, 5), (1000, 1), (1000, 10), (20_000, 20))],
      "n, lags, n (n + 2) sum r_k^2 / (n - k) of ((7919 i^2 + 104729 i) % 10007) / 10007, i < n")

getcontext().prec = 50


def dirichlet_log_e(bins, a, square, modulus):
    log_e, n = Decimal(0), 0
    for j in range(bins):
        for c in range(square * j * j % modulus):
            log_e += (bins * (Decimal(a) + c) / (bins * Decimal(a) + n)).ln()
            n += 1
    return n, log_e


table("kDirichlet", "Dirichlet", [(k, a, s, m, *dirichlet_log_e(k, a, s, m))
                                  for k, a, s, m in ((2, 0.5, 7, 5), (64, 8.0, 7, 23), (64, 0.5, 7, 23), (16, 1.0, 301, 997), (8, 50.0, 71, 61))],
      "bins, a, s, m, n, log E of counts (s j^2) % m, j < bins, by 50-digit products of the predictive bets")

head = f"""// Written by make_golden.py (SciPy {scipy.__version__}); do not edit. Reference values for the tests of stats/.
#pragma once

#include <cstdint>

namespace specbench::stats::golden {{

// clang-format off
struct TwoTails {{ double x, df, upper, lower; }};
struct Noncentrality {{ int df; double alpha, beta, lambda; }};
struct Pair {{ double x, y; }};
struct KolmogorovLimit {{ double lambda, upper, lower; }};
struct KolmogorovFinite {{ double d; std::int64_t n; double upper, lower; }};
struct ClopperPearson {{ std::int64_t k, n; double alpha, lower, upper; }};
struct Binomial {{ std::int64_t k, n; double p, lower, upper; }};
struct CountAndValue {{ std::int64_t k; double value; }};
struct Table {{ int rows, cols; std::int64_t counts[9]; double statistic, p; }};
struct FisherTable {{ std::int64_t k_first, n_first, k_second, n_second; double p; }};
struct Poisson {{ std::int64_t k; double rate, lower, upper; }};
struct LjungBox {{ int n, lags; double statistic; }};
struct Dirichlet {{ int bins; double a; int square, modulus; std::int64_t n; double log_e; }};
struct Speedups {{ double a; int g; double c, tokens, no_reuse, article_reuse; }};

"""
text = head + "\n".join(out) + "// clang-format on\n\n}  // namespace specbench::stats::golden\n"
pathlib.Path(__file__).with_name("golden.h").write_text(text)
