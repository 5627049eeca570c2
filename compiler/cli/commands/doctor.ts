/**
 * `viceroy doctor`: reports the properties of the machine and of the project, what is missing, and how to fix it. Exits
 * with code 1 if something required is missing. A missing optional part is reported without failing.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { addonFile, addonVariable } from "../../../native/addon-location.js";
import { describeLibtorch, findLibtorch, testedTexts, testedVersions } from "../../../native/libtorch.js";
import { prebuiltPackage } from "../../../native/prebuilt-addon.js";
import { ConfigError, nearestConfig } from "../../config/index.js";
import { GitError, GitRepository } from "../../git/index.js";
import { packageName } from "../../pipeline/project-files.js";
import { compilerPackage } from "../compiler-package.js";
import { exitCode, type Io } from "../io.js";
import type { RdmaSupport } from "../rdma-support.js";
import { type SpareProcess, spareProcesses } from "../spare-processes.js";
import { mergeDriverSetting } from "./lock-install.js";
import { isInstalled } from "./run.js";

export interface DoctorFinding {
  readonly level: "ok" | "note" | "problem";
  readonly text: string;
  readonly advice?: string;
}

type InStep = (configFile: string) => Promise<boolean | undefined>;

/**
 * @param inStep returns whether the generated code is up to date, or undefined if that cannot be determined; undefined
 * if the compiler is not installed
 */
export async function doctor(folder: string, io: Io, inStep: InStep | undefined, rdma: RdmaSupport): Promise<number> {
  const findings = [
    nodeFinding(process.versions.node),
    ...machineFindings(),
    { level: "ok", text: `processes of this machine are linked through ${rdma.links}` } as const,
    ...spareFindings(spareProcesses()),
    ...rdmaFindings(rdma),
    tensorFinding(),
    libtorchFinding(folder),
    ...(await projectFindings(folder, inStep)),
  ];
  const marks = { ok: "ok     ", note: "note   ", problem: "PROBLEM" };
  for (const { level, text: what, advice } of findings) {
    io.out(`${marks[level]} ${what}`);
    if (advice !== undefined) io.out(`        ${advice}`);
  }
  const problems = findings.filter(({ level }) => level === "problem").length;
  io.out(problems === 0 ? "No problems." : `${problems} ${problems === 1 ? "problem" : "problems"}.`);
  return problems === 0 ? exitCode.ok : exitCode.drift;
}

/** Checks the version of Node.js. Exported for tests. */
export function nodeFinding(version: string): DoctorFinding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 9)) return { level: "ok", text: `Node.js ${version}` };
  return {
    level: "problem",
    text: `Node.js ${version} is too old`,
    advice: "Viceroy needs Node.js 20.9 or newer: install one from nodejs.org or your package manager",
  };
}

function machineFindings(): readonly DoctorFinding[] {
  const memory = (totalmem() / 2 ** 30).toFixed(1);
  return [
    { level: "ok", text: `${process.platform} ${process.arch}, ${availableParallelism()} cores, ${memory} GiB memory` },
    platformFinding(),
    temporaryFinding(),
    descriptorFinding(),
    bindingFinding(),
  ];
}

function platformFinding(): DoctorFinding {
  if (process.platform === "linux" || process.platform === "darwin") {
    return { level: "ok", text: "processes and Unix sockets of this platform are supported" };
  }
  return {
    level: "problem",
    text: `platform ${process.platform} is not supported for meshes of processes`,
    advice: "use Linux or macOS; only the compiler runs on this platform",
  };
}

/**
 * Checks the length of the path of the temporary folder. Hosts create Unix sockets there, whose paths are limited to
 * about 100 bytes.
 */
function temporaryFinding(): DoctorFinding {
  const folder = tmpdir();
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    return {
      level: "problem",
      text: `cannot write to ${folder}`,
      advice: "set TMPDIR to a folder with write permission",
    };
  }
  if (Buffer.byteLength(folder) > 50) {
    return {
      level: "problem",
      text: `the path ${folder} is too long for sockets`,
      advice: "set TMPDIR to a shorter path",
    };
  }
  return { level: "ok", text: `sockets are created in ${folder}` };
}

function descriptorFinding(): DoctorFinding {
  const limit = outputOfShell("ulimit -n");
  if (limit === "unlimited" || Number(limit) >= 1024) return { level: "ok", text: `${limit} open files allowed` };
  return {
    level: "problem",
    text: `only ${limit || "an unknown number of"} open files allowed`,
    advice: "a process needs about five: run `ulimit -n 4096`",
  };
}

function bindingFinding(): DoctorFinding {
  if (outputOfShell("command -v taskset") !== "")
    return { level: "ok", text: "taskset found: processes can be bound to cores" };
  return {
    level: "note",
    text: "taskset not found: processes can't be bound to cores",
    advice: "install the package util-linux",
  };
}

/** Tells of the spares of hosts and of meshes that are restarted, which use memory. Exported for tests. */
export function spareFindings(spares: readonly SpareProcess[]): readonly DoctorFinding[] {
  if (spares.length === 0) return [];
  const many = spares.length === 1 ? "1 spare process waits" : `${spares.length} spare processes wait`;
  const known = spares.flatMap(({ memory }) => memory ?? []);
  const size = known.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20;
  const memory = known.length < spares.length ? "" : `, with ${Math.round(size)} MiB of memory`;
  const pids = spares.map(({ pid }) => pid).join(", ");
  const none = "`viceroy host --spares 0` and the option spares of spawnProcs start none";
  return [{ level: "ok", text: `${many} to become one of a program${memory}: process ${pids}; ${none}` }];
}

/** Checks the RDMA addon and its transports. Exported for tests. */
export function rdmaFindings({ addon, why, ptraceScope, transports }: RdmaSupport): readonly DoctorFinding[] {
  const missing: DoctorFinding = {
    level: "note",
    text: `no RDMA addon: ${why}`,
    advice:
      prebuiltPackage() === undefined
        ? "run `npx viceroy setup --rdma`, which needs g++ and takes some seconds"
        : `run \`npm install ${prebuiltPackage()}\`, or \`npx viceroy setup --rdma\`, which needs g++ and takes some seconds`,
  };
  const findings: DoctorFinding[] = [addon === undefined ? missing : { level: "ok", text: `RDMA addon ${addon}` }];
  for (const { transport, oneSided, why: lacks } of transports) {
    const kind = oneSided ? "one-sided" : "through the owner's event loop";
    findings.push(
      lacks === undefined
        ? { level: "ok", text: `RdmaBuffer by ${transport}, ${kind}` }
        : { level: "note", text: `no RdmaBuffer by ${transport}: ${lacks}` },
    );
  }
  if (ptraceScope > 0) {
    findings.push({
      level: "note",
      text: `ptrace_scope is ${ptraceScope}: the transport vm cannot access other processes, or only those of children`,
      advice: "RdmaBuffer.allocate works without it; otherwise, run `sysctl kernel.yama.ptrace_scope=0` as root",
    });
  }
  return findings;
}

/** Checks the libtorch that `viceroy setup --tensor` would use in this folder. Exported for tests. */
export function libtorchFinding(folder: string, env: NodeJS.ProcessEnv = process.env): DoctorFinding {
  try {
    const found = findLibtorch(env, folder);
    const what = describeLibtorch(found);
    if (testedVersions.includes(found.version)) return { level: "ok", text: what };
    return { level: "note", text: what, advice: "if an operation fails unexpectedly, use one of these versions" };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return {
      level: "note",
      text: `no libtorch to build the tensor addon with; Viceroy is tested with ${testedTexts}`,
      advice: "install libtorch-dev of Debian, or torch of PyPI in ./.venv",
    };
  }
}

/** Checks the tensor addon. It does not load libtorch, which takes longer than all other checks. Exported for tests. */
export function tensorFinding(env: NodeJS.ProcessEnv = process.env): DoctorFinding {
  const named = env[addonVariable("tensor")];
  const file = named || addonFile("tensor");
  if (named !== "off" && existsSync(file)) {
    const stack = env[addonVariable("stack")] || addonFile("stack");
    if (existsSync(stack)) return { level: "ok", text: `tensor addon ${file}, with ${stack}` };
    return {
      level: "note",
      text: `tensor addon ${file}, without the addon that finds the place of an operation faster: there is no ${stack}`,
      advice:
        "run `npx viceroy setup --tensor` on a machine with the headers of Node.js: it halves the time of an operation",
    };
  }
  return {
    level: "note",
    text: `no tensor addon: ${named === "off" ? `${addonVariable("tensor")} is "off"` : `there is no ${file}`}`,
    advice: "install libtorch and run `npx viceroy setup --tensor`",
  };
}

function outputOfShell(command: string): string {
  try {
    return execFileSync("/bin/sh", ["-c", command], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}

async function projectFindings(folder: string, inStep: InStep | undefined): Promise<readonly DoctorFinding[]> {
  let file: string;
  try {
    file = nearestConfig(folder);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ level: "note", text: `no project in ${folder}`, advice: "run `npx viceroy init` to create one" }];
  }
  const findings: DoctorFinding[] = [
    { level: "ok", text: `project ${path.relative(folder, file) || path.basename(file)}` },
  ];
  try {
    const name = packageName({ root: path.dirname(file), file: path.basename(file) });
    findings.push({ level: "ok", text: `package ${name}` });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push({ level: "problem", text: error.message });
    return findings;
  }
  if (inStep === undefined) {
    // In production, the program is compiled, and neither the compiler nor a loader of TypeScript is needed.
    findings.push({
      level: "note",
      text: `${compilerPackage} not found: this installation runs programs, and cannot compile schemas`,
      advice: `to compile here, run \`npm install --save-dev ${compilerPackage}\``,
    });
    return findings;
  }
  findings.push(...mergeFindings(path.dirname(file)), loaderFinding(file));
  const answer = await inStep(file);
  if (answer === undefined) {
    findings.push({
      level: "problem",
      text: "the schemas don't compile",
      advice: "run `npx viceroy compile` to see why",
    });
  } else if (answer) findings.push({ level: "ok", text: "generated code and the lock are up to date" });
  else
    findings.push({ level: "problem", text: "generated code is not up to date", advice: "run `npx viceroy compile`" });
  return findings;
}

/** Checks the TypeScript loader. Exported for tests. */
export function loaderFinding(configFile: string): DoctorFinding {
  if (isInstalled("tsx", [configFile])) return { level: "ok", text: "tsx found: programs in TypeScript can be run" };
  if (isInstalled("typescript", [configFile])) {
    return {
      level: "note",
      text: "tsx not found: programs in TypeScript must be compiled before they can be run",
      advice: "run `npm install --save-dev tsx` to run them directly",
    };
  }
  return {
    level: "problem",
    text: "tsx and typescript not found: generated code is TypeScript and cannot be run",
    advice: "run `npm install --save-dev tsx typescript @types/node`",
  };
}

/** Checks whether this clone has the merge driver of the lock file in its git configuration. */
function mergeFindings(root: string): readonly DoctorFinding[] {
  try {
    const repository = GitRepository.containing(root);
    if (repository === undefined) return [];
    if (repository.setting(mergeDriverSetting) !== undefined)
      return [{ level: "ok", text: "git merges the lock with viceroy lock merge" }];
  } catch (error) {
    if (error instanceof GitError) return [{ level: "note", text: error.message }];
    throw error;
  }
  return [
    {
      level: "note",
      text: "git does not merge the lock with viceroy lock merge in this clone",
      advice: "run `npx viceroy lock install`, so that two branches that both add fields merge without a conflict",
    },
  ];
}
