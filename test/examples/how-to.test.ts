/**
 * Follows each how-to guide in a project of its own: writes the files that it names, runs its commands, and compares
 * their output with the text that the page shows.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { nodeOf, webpack } from "../bundlers/tools.js";
import { hasContainers } from "../kubernetes/kubelet/root-file-system.js";
import { makeNamespace } from "../kubernetes/lab/access.js";
import { type Ends, endAll } from "../kubernetes/lab/ends.js";
import { startStandIn } from "../kubernetes/lab/stand-in-lab.js";
import { peer } from "../peers.js";
import { permitted } from "../permitted.js";
import { hasTensors } from "../tensor/addon.js";
import { CompilerProcess } from "./compiler-process.js";
import { Guide } from "./how-to.js";
import { pages } from "./markdown.js";
import { installBundlers, installInto, withQuickNpx, write } from "./project.js";

vi.setConfig({ testTimeout: 300_000 });

const guides = pages()
  .map(({ file }) => file)
  .filter((file) => file.startsWith("docs/how-to/") && !file.endsWith("/index.md"));
const browser = peer("chromium-headless-shell");
/** Guides that need more than Viceroy and Node.js. */
const followed: Readonly<Record<string, boolean>> = {
  "train-on-several-processes": hasTensors,
  "keep-an-answer-on-its-process": hasTensors,
  "build-the-native-addons": isInstalled("g++"),
  "serve-an-actor-to-a-browser": isInstalled("curl"),
  "browser-client": browser !== undefined,
  "authenticate-clients": isInstalled("curl"),
  "secure-hosts-with-tls": isInstalled("openssl"),
  "find-hosts-by-name": isInstalled("openssl"),
  "ssh-jobs": isInstalled("ssh"),
  "run-jobs-on-kubernetes": permitted("the guide to Kubernetes", "unshare with mount namespaces", hasContainers),
  "check-schemas-in-ci": isInstalled("git"),
  "merge-lock-files": isInstalled("git"),
  bundling: webpack !== undefined,
  "run-typescript-directly": nodeOf("24") !== undefined,
};
const packages = ["@bufbuild", "@connectrpc", "@grpc", "@kubernetes", "playwright-core", "vitest"];

/** Makes commands behave alike wherever the tests run. */
const alike = {
  GITHUB_ACTIONS: "",
  GITHUB_BASE_REF: "",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "Ann",
  GIT_AUTHOR_EMAIL: "ann@example.com",
  GIT_COMMITTER_NAME: "Ann",
  GIT_COMMITTER_EMAIL: "ann@example.com",
};

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "how-to-")));
let env: Readonly<Record<string, string>>;
let compiler: CompilerProcess;
/** The ports that pages name. Others may be using them here, such as another page that is followed at the same time. */
const shownPorts = ["8080", "26600", "26601", "26602", "26603"];
const takenPorts = new Set<string>();

beforeAll(async () => {
  installInto(folder);
  env = { ...withQuickNpx(folder, packages), ...alike, ...(browser !== undefined && { CHROMIUM: browser }) };
  installBundlers(folder);
  compiler = new CompilerProcess(env);
});
afterAll(() => {
  compiler.end();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

// Most of the time of a guide is waiting, for programs that start and for time limits that pass.
test.concurrent.for(guides)("the steps of %s work and print the output that the page shows", async (file, { skip }) => {
  const name = path.basename(file, ".md");
  skip(followed[name] === false, "it needs what is not installed here");
  const own = path.join(folder, name);
  // The guide that builds the addon must not find one in the shared cache.
  const cache = name === "build-the-native-addons" ? { XDG_CACHE_HOME: path.join(own, "cache") } : {};
  // The oldest version of Node.js that runs the tests does not strip types.
  const newer = name === "run-typescript-directly" ? { PATH: `${path.dirname(nodeOf("24")!)}:${env["PATH"]}` } : {};
  const replaced = new Map<string, string>();
  for (const port of shownPorts) replaced.set(port, await freePort());
  const ends: Ends = [];
  const cluster = name === "run-jobs-on-kubernetes" ? await startCluster(ends, replaced) : {};
  const guide = new Guide(file, { folder: own, env: { ...env, ...cache, ...newer, ...cluster }, compiler, replaced });
  try {
    await guide.follow();
  } finally {
    await guide.end();
    await endAll(ends);
  }
});

test("the code of all guides, fragments included, passes the type checker", () => {
  const options = {
    target: "es2022",
    lib: ["es2023", "dom", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const folders = guides
    .map((file) => path.basename(file, ".md"))
    // This guide has settings of its own, with which it runs the type checker itself.
    .filter((name) => name !== "run-typescript-directly" && existsSync(path.join(folder, name)));
  write(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: folders }));
  expect(complaints(folder)).toBe("");
});

/** Returns true without a check where all peers are required, so that a guide whose peer is missing fails there. */
function isInstalled(command: string): boolean {
  return process.env["VICEROY_PEERS"] === "required" || spawnSync(command, ["--version"]).error === undefined;
}

/**
 * Starts the stand-in of Kubernetes, with a namespace that allows restricted pods only.
 * @param replaced gets the namespace and the image instead of those that the page shows
 * @returns the environment in which the commands of the page find it
 */
async function startCluster(ends: Ends, replaced: Map<string, string>): Promise<Record<string, string>> {
  const lab = await startStandIn(ends);
  const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
  replaced.set("research", await makeNamespace(lab, restricted)).set("node:22", lab.nodeImage);
  return { KUBECONFIG: lab.kubeconfig };
}

/** Draws a free port below the range from which the system gives ports to others meanwhile. */
async function freePort(): Promise<string> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (!free || takenPorts.has(`${port}`)) continue;
    takenPorts.add(`${port}`);
    return `${port}`;
  }
}

function complaints(folder: string): string {
  try {
    execFileSync("npx", ["tsc", "-p", folder], { encoding: "utf8", env: { ...process.env, ...env } });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
