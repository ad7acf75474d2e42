"""corpus.txt: six novels of Jane Austen (public domain), paragraphs unwrapped.

The texts come from Debian's r-cran-janeaustenr; with R installed, once, after mkdir novels:
  Rscript -e 'b <- janeaustenr::austen_books(); for (n in levels(b$book)) writeLines(b$text[b$book==n], paste0("novels/", n, ".txt"))'
Usage: python3 corpus.py novels/ > corpus.txt
"""
import glob
import re
import sys

for name in sorted(glob.glob(sys.argv[1] + "/*.txt")):
    text = open(name, encoding="utf-8").read().replace("\r", "")
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.strip():
            print(" ".join(paragraph.split()))
