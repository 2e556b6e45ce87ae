# SPDX-License-Identifier: BSD-3-Clause
"""Values given by users: parameters, their domains, checks of arguments."""
