/** Tests of the versions of the client of Kubernetes: a program that has installed one of them uses a job with it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { installed, nodeOf } from "../../bundlers/tools.js";
import { root } from "../../examples/program.js";
import { onKubernetes } from "../lab/on-kubernetes.js";

/** The newest version needs a newer Node.js than the oldest that Viceroy runs on. */
const versions = [
  { major: 1, folder: "node_modules/@kubernetes", node: process.execPath },
  { major: 2, folder: ".ci/node/node_modules/@kubernetes", node: nodeOf("24") },
];

const program = `
import { createRequire } from "node:module";
import { KubernetesJob } from "viceroy/job";
const { version } = createRequire(import.meta.url)("@kubernetes/client-node/package.json");
const job = new KubernetesJob({ ...JSON.parse(process.argv[2]), cache: null, progress: "silent", sync: false });
const { trainers } = await job.state();
const { extent } = trainers;
await job.kill();
console.log(JSON.stringify({ version, extent }));
`;

/** Makes a project that has installed Viceroy and one version of the client. */
function makeProject(clients: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), "client-"));
  const viceroy = path.join(folder, "node_modules/viceroy");
  mkdirSync(viceroy, { recursive: true });
  const isSource = (file: string) => file.endsWith(".map") || file.endsWith("/types") || file.endsWith("/cli");
  cpSync(path.join(root, "dist"), path.join(viceroy, "dist"), { recursive: true, filter: (file) => !isSource(file) });
  cpSync(path.join(root, "package.json"), path.join(viceroy, "package.json"));
  symlinkSync(path.join(root, clients), path.join(folder, "node_modules/@kubernetes"));
  writeFileSync(path.join(folder, "main.mjs"), program);
  return folder;
}

onKubernetes("the client of Kubernetes", (lab) => {
  for (const { major, folder, node } of versions) {
    const isThere = node !== undefined && installed(`${folder}/client-node/package.json`) !== undefined;
    test.runIf(isThere)(`of version ${major} makes pods, watches them and deletes them`, async () => {
      const project = makeProject(folder);
      const options = {
        namespace: await lab().namespace(),
        kubeconfig: lab().kubeconfig,
        meshes: { trainers: { hosts: 1, image: lab().nodeImage } },
      };
      const child = spawn(node!, ["main.mjs", JSON.stringify(options)], { cwd: project });
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      expect(err).toBe("");
      const client = createRequire(path.join(project, "main.mjs"))("@kubernetes/client-node/package.json") as {
        version: string;
      };
      expect(JSON.parse(out)).toEqual({ version: client.version, extent: { hosts: 1 } });
      expect(client.version).toMatch(new RegExp(`^${major}\\.`));
    });
  }
});
