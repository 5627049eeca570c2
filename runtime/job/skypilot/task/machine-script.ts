/**
 * The scripts that SkyPilot runs on each machine: `setup` once for each launch, which writes the files of the run, and `run`, which lasts as
 * long as the host. SkyPilot repeats `run` for each machine in one program, so everything large is in `setup`.
 */
import { oldestNode } from "../../host-node.js";
import { quote } from "../../quote.js";
import type { SkyPilotSpec } from "../skypilot-spec.js";

/** The variable with the secrets of the hosts, which only the scripts see. */
export const secretsVariable = "VICEROY_SKYPILOT_SECRETS";

/** The names of files in the folder of a run on a machine. */
export const orderName = "order.json";
export const secretsName = "secrets.json";
export const archiveName = "daemon.br";
const programName = "host.cjs";
const nodeName = "node";

/** The files that a machine gets, by their names. */
export interface MachineFiles {
  readonly program: Buffer;
  readonly archive: Buffer;
  readonly order: Buffer;
}

/** Returns the folder of a run on a machine, as a shell reads it. */
function folderOf(applyId: string): string {
  return `"$HOME"/.viceroy/jobs/${quote(applyId)}`;
}

const [major, minor] = oldestNode.split(".");

/** @param run the id of the run, and the files */
export function setupScript(
  { setup, node }: Pick<SkyPilotSpec, "setup" | "node">,
  { applyId, files }: { readonly applyId: string; readonly files: MachineFiles },
): string {
  const { program, archive, order } = files;
  return `${setup === null ? "" : `${setup}\n`}(
refuse() { echo "viceroy host: cannot start on machine $(hostname): $1" >&2; exit 69; }
umask 077
node=$(command -v ${quote(node ?? "node")}) || refuse "there is no Node.js: the shell finds no program ${node ?? "node"}; \
install it with the option setup, use an image that has it, or name it with the option node"
version=$("$node" --version 2> /dev/null) || refuse "$node is not Node.js: it does not tell its version"
version=\${version#v}
rest=\${version#*.}
if [ "\${version%%.*}" -lt ${major} ] || { [ "\${version%%.*}" -eq ${major} ] && [ "\${rest%%.*}" -lt ${minor} ]; }; then
  refuse "Node.js $version is too old, ${oldestNode} is the oldest that works; install another one with the option setup, or name it with the option node"
fi
mkdir -p ${folderOf(applyId)} && cd ${folderOf(applyId)} || refuse "it cannot make the folder of the run"
# The hosts look for programs where this script does.
printf 'export PATH=%q\\nnode=%q\\n' "$PATH" "$node" > ${nodeName}.new && mv ${nodeName}.new ${nodeName}
printf %s "$${secretsVariable}" > ${secretsName}.new && mv ${secretsName}.new ${secretsName}
${written(programName, program)}${written(archiveName, archive)}${written(orderName, order)})
`;
}

/** Returns lines that write a file as a whole: a host that runs may be reading the one before. */
function written(name: string, content: Buffer): string {
  const lines = content.toString("base64").replaceAll(/.{1,1000}/g, "$&\n");
  return `base64 -d > ${name}.new << 'END' && mv ${name}.new ${name} || refuse "it cannot write its files"\n${lines}END\n`;
}

export function runScript(applyId: string): string {
  return `unset ${secretsVariable}
. ${folderOf(applyId)}/${nodeName}
"$node" ${folderOf(applyId)}/${programName}
`;
}
