/**
 * Code is brought to machines that have Node.js and a server of ssh alone: neither the program nor Viceroy is there. The machines are
 * network namespaces, in which the folders of both are hidden.
 */
import { mkdtempSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { makeProgram, type Program } from "../sync/hosts/program.js";
import { hasSsh, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("code over ssh", "Debian's packages openssh-server and openssh-client", hasSsh);
const repository = resolve(import.meta.dirname, "../..");
const parent = realpathSync(mkdtempSync(join(tmpdir(), "programs-")));
const hidden = [parent, join(repository, "dist"), join(repository, "node_modules")];
const prepare = hidden.map((folder) => `mount -t tmpfs none ${folder}`).join(" && ");

// Hooks that a hook registers do not run, so the machines are made here.
const network =
  networks && ssh
    ? new SshNetwork({ n1: { prepare }, n2: { prepare }, shared: {} })
    : (undefined as unknown as SshNetwork);
const storeOf = (name: string) => join(network.machines[name]!.home, ".cache/viceroy/code");

describe.runIf(networks && ssh)("a job over ssh", () => {
  let program: Program;
  beforeAll(async () => {
    await network.listening();
    const { through, env } = network;
    program = await makeProgram([], {}, { parent, through, env });
  });

  const job = (options: string, hosts = `["n1", "n2"]`) =>
    `const { SSHJob } = await import("viceroy/job");
     await using job = new SSHJob({ meshes: { workers: { hosts: ${hosts} } }, cache: null, ${options} });
     const { workers } = await job.state();\n`;

  test("brings the program to hosts that have Node.js alone, before its first processes", async () => {
    const { value, stderr } = await program.run(`${job("")}
      const sites = workers.spawnProcs({ gpus: 2 }).spawn("sites", Here);
      print([await values(sites.text.call()), await values(sites.greeting.call()), await values(sites.folder.call())]);`);
    const [texts, greetings, folders] = value;
    expect(texts).toEqual(Array(4).fill("first"));
    expect(greetings).toEqual(Array(4).fill("hello"));
    for (const [rank, folder] of folders.entries())
      expect(folder.startsWith(`${storeOf(rank < 2 ? "n1" : "n2")}/trees/`)).toBe(true);
    expect(stderr).toMatch(/viceroy job viceroy: code of \d+ files, [\d.]+ MB: on 2 of 2 hosts of workers/);
  });

  test("runs an edit when the program is run again", async () => {
    const { value } = await program.run(`write("src/text.ts", 'export const text = "second";\\n');
      ${job(`progress: "silent"`)}
      print(await values(workers.spawnProcs().spawn("sites", Here).text.call()));`);
    expect(value).toEqual(["second", "second"]);
  });

  test("brings a script of one process per rank, which is no program of actors, with the files that its command names", async () => {
    const { value } = await program.run(`
      write("scripts/rank.mjs", 'import { text } from "../src/plain.mjs"; console.log(text, process.env.RANK, process.cwd(), process.argv[2]);');
      write("src/plain.mjs", 'export const text = "script";');
      ${job("")}
      const lines: string[] = [];
      const stdio = (line: string) => { lines.push(line); };
      const run = await job.spmd({ stdio }, ["node", "scripts/rank.mjs", path.resolve("src/plain.mjs")]);
      print({ code: await run.exited(), lines });`);
    expect(value.code).toBe(0);
    const folders = ["n1", "n2"].map((name) => `${storeOf(name)}/trees/`);
    const lines = (value.lines as string[])
      .map((line) => line.trim().split(" "))
      .sort(([, a], [, b]) => Number(a) - Number(b));
    expect(lines.map(([text, rank]) => [text, rank])).toEqual([
      ["script", "0"],
      ["script", "1"],
    ]);
    for (const [rank, [, , cwd = "", file = ""]] of lines.entries()) {
      expect(cwd.startsWith(folders[rank]!), cwd).toBe(true);
      expect(file).toBe(`${cwd}/src/plain.mjs`);
    }
  });

  test("brings nothing if that is switched off, and the error says what the host lacks", async () => {
    const { value } = await program.run(`viceroy.onUnhandledFault(() => {});
      ${job("sync: false")}
      const sites = workers.spawnProcs().spawn("sites", Here);
      print((await sites.text.call().catch((error) => error)).message);`);
    expect(value).toContain(`Cannot find module '${repository}/dist/typescript/register.js'`);
  });

  test("brings nothing to hosts that see the files of the program", async () => {
    const { value } = await program.run(`${job("", `["shared"]`)}
      print(await values(workers.spawnProcs().spawn("sites", Here).folder.call()));`);
    expect(value[0]).not.toContain("/trees/");
    expect(readdirSync(network.machines["shared"]!.home)).not.toContain("code");
  });

  test("is detached with its code: processes that a controller starts again run in the same tree", async () => {
    const cached = `idle: "30s", progress: "silent"`;
    const start = job(cached).replace("cache: null,", "").replace("await using", "const");
    const { value } = await program.run(`${start}
      const restart = { policy: "on-failure", backoff: 0 } as const;
      const sites = workers.spawnProcs({}, { restart }).spawn("sites", Here);
      const folders = await values(sites.folder.call());
      await viceroy.publish("sites", sites);
      await job.detach();
      print(folders);`);
    const second = await program.run(`${start}
      const sites = await viceroy.lookup("sites", Here);
      const pids = await values(sites.pid.call());
      await sites.crash.callSettled();
      let now = pids;
      while (now.some((pid, i) => pid === pids[i])) {
        now = [...(await sites.pid.callSettled()).values()].map((settled, i) => settled.status === "fulfilled" ? settled.value : pids[i]);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      print(await values(sites.folder.call()));
      await job.kill();`);
    expect(second.value).toEqual(value);
    expect(value[0]).toContain("/trees/");
  });

  test("gives the code to the batch of `viceroy job sync`, which says what it has brought", async () => {
    const { value } = await program.run(`
      write("job.mjs", \`import { SSHJob } from "viceroy/job";
        export default new SSHJob({ meshes: { workers: { hosts: ["n1", "n2"] } } });\`);
      write("large.bin", "x".repeat(2_000_000));
      const { spawnSync } = await import("node:child_process");
      const cli = (...args: string[]) => {
        const { status, stdout, stderr } = spawnSync(process.execPath, ["node_modules/viceroy/dist/cli/viceroy.js", "job", ...args, "--job", "job.mjs"], { encoding: "utf8" });
        return { status, stdout, stderr };
      };
      const before = cli("sync");
      cli("apply");
      const synced = cli("sync", "--exclude", "large.bin");
      const json = cli("sync", "--json", "--exclude", "large.bin", "--exclude", "*.none");
      const wrong = cli("sync", "--root", "missing");
      const home = cli("sync", "--root", "/");
      const mesh = cli("sync", "--mesh", "none");
      cli("kill");
      print({ before, synced, json, wrong, home, mesh });
    `);
    expect(value.before).toMatchObject({ status: 1, stdout: "", stderr: 'job "viceroy" does not run\n' });
    expect(value.synced.status).toBe(0);
    expect(value.synced.stdout).toMatch(
      /^workers: \d+ files, [\d.]+ MB on 2 hosts, which have fetched [\d.]+ MB; tree [\da-f]{12}\n$/,
    );
    expect(value.synced.stderr).toMatch(
      /viceroy job viceroy: code of \d+ files, [\d.]+ MB: on 2 of 2 hosts of workers\n$/,
    );
    const { mesh, tree, bytes, hosts } = JSON.parse(value.json.stdout);
    expect([mesh, tree.length, hosts.length]).toEqual(["workers", 64, 2]);
    expect(bytes).toBeGreaterThan(1_000_000);
    // The hosts have had everything since the sync before.
    expect(hosts.map((host: { bytes: number }) => host.bytes)).toEqual([0, 0]);
    const lastLine = ({ status, stderr }: { status: number; stderr: string }) => [status, stderr.split("\n").at(-2)];
    expect(lastLine(value.wrong)).toEqual([3, "cannot sync missing: it does not exist"]);
    expect(lastLine(value.home)).toEqual([
      3,
      "cannot sync /: it is the root of the file system; name the folder of the program, or repeat the root in largeRoots if all " +
        "of it is meant",
    ]);
    expect(lastLine(value.mesh)).toEqual([3, 'job "viceroy" has no mesh "none"; it has "workers"']);
  });
});
