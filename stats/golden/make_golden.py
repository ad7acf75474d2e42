#!/usr/bin/env python3
"""Writes golden.h: what SciPy gives for the laws in stats/. Run by hand: pip install scipy; ./make_golden.py

Nothing here runs in the build. Laws that stats/ evaluates exactly must agree to 1e-12 relative.
"""
import pathlib
from fractions import Fraction

import scipy
from scipy import optimize, stats

out = []


def table(name, struct, rows, comment):
    out.append(f"// {comment}")
    out.append(f"inline constexpr {struct} {name}[] = {{")
    out.extend("    {" + ", ".join(number(x) for x in row) + "}," for row in rows)
    out.append("};\n")


def number(x):
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
struct Speedups {{ double a; int g; double c, tokens, no_reuse, article_reuse; }};

"""
text = head + "\n".join(out) + "// clang-format on\n\n}  // namespace specbench::stats::golden\n"
pathlib.Path(__file__).with_name("golden.h").write_text(text)
