#!/bin/sh
# Installs the commands that are named as arguments, where they are missing:
# with apt-get when run as root, else it says what is missing and fails.
set -eu

package_of() {
	case $1 in
	java) echo openjdk-17-jre-headless ;;
	mvn) echo maven ;;
	*) echo "$1" ;;
	esac
}

missing= packages=
for command in "$@"; do
	command -v "$command" >/dev/null 2>&1 && continue
	missing="$missing $command"
	packages="$packages $(package_of "$command")"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "missing:$missing" >&2
	echo "install them first; on Debian and Ubuntu: sudo apt-get install$packages" >&2
	exit 1
fi
echo "installing$packages" >&2
apt-get update -qq
# shellcheck disable=SC2086 # one argument for each package
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
