# SPDX-License-Identifier: Apache-2.0
"""The command line: `halocline`. Each group of commands has a file; main.py combines them and sets the exit status."""
