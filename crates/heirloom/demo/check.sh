#!/bin/sh
# Checks the work of the demo's agent.
head -n 1 config.ini | grep -qF '[server]' || { echo 'config.ini:1: key outside of a section'; exit 1; }
grep -q '^greeting' config.ini || { echo 'config.ini: no greeting'; exit 1; }
echo ok
