/**
 * The part of the probe that a host needs no Node.js for: lines of the POSIX shell, which run as the `setup` of a host
 * (ssh-command.ts). It leaves nothing on the host.
 */
import { quote } from "../../quote.js";
import { probeMark } from "./probe-lines.js";

/** The size of the file that the probe writes, in KiB. */
const writtenKib = 64;

/**
 * Returns the lines.
 * @param setup the lines of the user's job, which run after the probe has described the machine
 * @param node the name or the path of Node.js
 */
export function shellProbe(setup: string | null, node: string): string {
  return [
    `viceroy_says() { printf '\\n${probeMark}%s=%s\\n' "$1" "$2"; }`,
    `( ${machineProbe} ) || :`,
    ...(setup === null ? [] : [setup]),
    "viceroy_says setup done",
    `command -v ${quote(node)} > /dev/null 2>&1 || ( ${nodeSearch} ) || :`,
  ].join("\n");
}

/** The folders are those of the daemon (starter/install-daemon.ts). A folder that does not exist yet is tried above. */
const machineProbe = `
viceroy_says shell works
viceroy_says time "$(date +%s)"
viceroy_says system "$(uname -s) $(uname -m)"
for viceroy_folder in "\${XDG_CACHE_HOME:-$HOME/.cache}" /tmp; do
  while [ ! -d "$viceroy_folder" ] && [ "$viceroy_folder" != "\${viceroy_folder%/*}" ]; do
    viceroy_folder=\${viceroy_folder%/*}
  done
  viceroy_folder=\${viceroy_folder:-/}
  viceroy_try=$viceroy_folder/.viceroy-doctor-$$
  viceroy_error=$(mkdir "$viceroy_try" 2>&1 &&
    dd if=/dev/zero of="$viceroy_try/file" bs=1024 count=${writtenKib} 2>&1 ||
    echo failed)
  rm -rf "$viceroy_try" 2> /dev/null
  case $viceroy_error in
    *failed) viceroy_says unwritable "$viceroy_folder: $(printf %s "\${viceroy_error%failed}" | tr '\\n' ' ')" ;;
    *) viceroy_says writable "$viceroy_folder" ;;
  esac
  viceroy_says free "$(df -Pk "$viceroy_folder" 2> /dev/null | awk 'NR == 2 { print $4 }') $viceroy_folder"
done
`;

/** A shell that is not interactive has a shorter PATH: version managers only change that of terminals. */
const nodeSearch = `
viceroy_node=$("\${SHELL:-/bin/sh}" -l -i -c 'command -v node' < /dev/null 2> /dev/null | tail -n 1)
[ -x "$viceroy_node" ] || for viceroy_node in "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.volta/bin/node \\
  "$HOME"/.local/share/fnm/node-versions/*/installation/bin/node /usr/local/bin/node /opt/*/bin/node; do
  [ -x "$viceroy_node" ] && break
done
[ ! -x "$viceroy_node" ] || viceroy_says found "$viceroy_node"
`;
