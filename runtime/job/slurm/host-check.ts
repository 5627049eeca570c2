/**
 * What each node checks before it starts a host, as a script of the POSIX shell. Its arguments are the folder of the run, the
 * first incarnation of the host or nothing if it is not started again, the beginnings of the identity of the host and of the name of the
 * file with its key or nothing, and the command of the host, which begins with Node.js. What is missing is part of the output of the job,
 * and so of the error.
 */
import { oldestNode } from "../host-node.js";
import { hostLoop } from "./host-loop.js";

const [major, minor] = oldestNode.split(".");

export const hostCheck = `
refuse() { echo "viceroy host: cannot start on node $SLURMD_NODENAME: $1" >&2; exit 69; }
[ -d "$1" ] || refuse "it does not see the folder $1; the cache of a job must be in a folder that all nodes share"
folder=$1
first=$2
rank=$((SLURM_PROCID + \${VICEROY_JOB_FIRST:-0}))
identity=\${3:+"$3$rank"}
key=\${4:+"$4$rank"}
shift 4
version=$("$1" --version 2>/dev/null) || refuse "there is no Node.js: the shell finds no program $1; install it there, \
name it with the option node, or make it available with the option setup"
version=\${version#v}
rest=\${version#*.}
if [ "\${version%%.*}" -lt ${major} ] || { [ "\${version%%.*}" -eq ${major} ] && [ "\${rest%%.*}" -lt ${minor} ]; }; then
  refuse "Node.js $version is too old, ${oldestNode} is the oldest that works; name another one with the option node"
fi
[ -e "$2" ] || refuse "it does not see $2; the project must be in a folder that all nodes share"
export VICEROY_JOB_RANK="$rank"
[ -z "$identity" ] || set -- "$@" --identity "$identity"
[ -n "$first" ] || exec "$@"
${hostLoop}`;
