// SPDX-License-Identifier: BSD-3-Clause
// How the site's search orders its hits: headings first, guide and how-tos before reference and reports.
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(guide\/|how-to|joints$|contact$|elements$|conventions$|errors$|hpc\/)/.test(page)) return score + 6;
    if (/^(papers\/|verification|inside$|aids$|memory$|unknowns$|lists$)/.test(page)) return score - 6;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 40,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
