/** Tests of the versions of the client of Kubernetes: a program that has installed one of them uses a job with it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { parse } from "yaml";
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

/**
 * Writes a kubeconfig file in which the user logs in by a program that prints the credentials of another file. Jobs use the client for such users.
 * @returns the file, and another one, in which each run of the program is noted
 */
function withProgram(kubeconfig: string, folder: string): { readonly file: string; readonly used: string } {
  const config = parse(readFileSync(kubeconfig, "utf8")) as { users: { user: Record<string, string> }[] };
  const { user } = config.users[0]!;
  const apiVersion = "client.authentication.k8s.io/v1";
  const decoded = (name: string) => user[name] && Buffer.from(user[name], "base64").toString("utf8");
  const status = {
    token: user["token"],
    clientCertificateData: decoded("client-certificate-data"),
    clientKeyData: decoded("client-key-data"),
  };
  const [printed, used, file] = ["credentials.json", "used", "kubeconfig"].map((name) => path.join(folder, name));
  writeFileSync(printed!, JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
  const script = `echo run >> '${used}'; cat '${printed}'`;
  config.users[0]!.user = {
    exec: { apiVersion, command: "sh", args: ["-c", script], interactiveMode: "Never" },
  } as never;
  writeFileSync(file!, JSON.stringify(config));
  return { file: file!, used: used! };
}

onKubernetes("the client of Kubernetes", (lab) => {
  for (const { major, folder, node } of versions) {
    const isThere = node !== undefined && installed(`${folder}/client-node/package.json`) !== undefined;
    test.runIf(isThere)(`of version ${major} makes pods, watches them and deletes them`, async () => {
      const project = makeProject(folder);
      const { file, used } = withProgram(lab().kubeconfig, project);
      const options = {
        namespace: await lab().namespace(),
        kubeconfig: file,
        meshes: { trainers: { hosts: 1, image: lab().nodeImage } },
      };
      const child = spawn(node!, ["main.mjs", JSON.stringify(options)], { cwd: project });
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      expect(err).toBe("");
      const client = createRequire(path.join(project, "main.mjs"))("@kubernetes/client-node/package.json") as {
        version: string;
      };
      expect(JSON.parse(out)).toEqual({ version: client.version, extent: { hosts: 1 } });
      expect(readFileSync(used, "utf8")).toContain("run");
      expect(client.version).toMatch(new RegExp(`^${major}\\.`));
    });
  }
});
