# SPDX-License-Identifier: Apache-2.0
"""The command line: `halocline`. One file a group of commands; main.py puts them together and owns the exit status."""
