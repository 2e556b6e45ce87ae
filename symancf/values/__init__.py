# SPDX-License-Identifier: BSD-3-Clause
"""What users give: parameters, their domains, checks of arguments."""
