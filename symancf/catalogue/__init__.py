# SPDX-License-Identifier: BSD-3-Clause
"""Terms ready for use: loads, supports, joints, gas, controllers."""
