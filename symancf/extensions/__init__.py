# SPDX-License-Identifier: BSD-3-Clause
"""Extensions that come with the package, each found by its entry point (`runtime.registry`)."""
