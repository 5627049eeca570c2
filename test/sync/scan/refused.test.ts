import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { scan } from "../../../runtime/sync/scan/scan.js";
import { defaultScanLimits } from "../../../runtime/sync/scan/scan-limits.js";
import { cases } from "../../profile.js";
import { folderWith, git, rejection, repositoryWith } from "../folder.js";

test("the root of the file system and folders that contain the home folder are refused unless they are said twice", async () => {
  const home = folderWith({ "user/a.txt": "a" });
  const user = path.join(home, "user");
  const advice = "name the folder of the program, or repeat the root in largeRoots if all of it is meant";
  const slash = await rejection(scan({ roots: ["/"], home: user }));
  expect(slash).toMatchObject({ code: "root-refused", path: "/" });
  expect(slash.message).toBe(`cannot sync /: it is the root of the file system; ${advice}`);
  for (const root of [user, home]) {
    const error = await rejection(scan({ roots: [root], home: user }));
    expect(error.message).toBe(`cannot sync ${root}: it is or contains the home folder; ${advice}`);
  }
  const link = path.join(folderWith({}), "link");
  symlinkSync(user, link);
  expect((await rejection(scan({ roots: [link], home: user }))).message).toContain("contains the home folder");
  await expect(scan({ roots: [user], home: user, largeRoots: [link] })).resolves.toMatchObject({ filesRead: 1 });
});

test("a root that does not exist or is a file is refused", async () => {
  const folder = folderWith({ "a.txt": "" });
  expect((await rejection(scan({ roots: [`${folder}/none`] }))).message).toBe(
    `cannot sync ${folder}/none: it does not exist`,
  );
  expect((await rejection(scan({ roots: [`${folder}/a.txt`] }))).message).toBe(
    `cannot sync ${folder}/a.txt: it is not a folder; name the folder that contains it`,
  );
});

test("sockets, named pipes and devices are refused by name", async () => {
  const root = folderWith({});
  const server = createServer().listen(path.join(root, "s.sock"));
  await new Promise((resolve) => server.once("listening", resolve));
  const refused = (name: string, what: string) =>
    `cannot scan ${root}: ${name} is refused: it is ${what}, which has no content that can be copied; exclude it`;
  expect(await rejection(scan({ roots: [root] }))).toMatchObject({
    code: "entry-refused",
    path: "s.sock",
    message: refused("s.sock", "a socket"),
  });
  await new Promise((resolve) => server.close(resolve));
  spawnSync("mkfifo", [path.join(root, "pipe")]);
  expect((await rejection(scan({ roots: [root] }))).message).toBe(refused("pipe", "a named pipe"));
  await expect(scan({ roots: [root], exclude: ["pipe"] })).resolves.toBeDefined();
  rmSync(path.join(root, "pipe"));
  if (spawnSync("mknod", [path.join(root, "null"), "c", "1", "3"]).status === 0) {
    expect((await rejection(scan({ roots: [root] }))).message).toBe(refused("null", "a device"));
  }
});

test("links inside of the roots are kept, also those that lead nowhere", async () => {
  const root = folderWith({ "lib/a.ts": "a", "bin/.keep": "" });
  symlinkSync("../lib/a.ts", path.join(root, "bin/a"));
  symlinkSync("lib", path.join(root, "current"));
  symlinkSync("current/missing", path.join(root, "nowhere"));
  const links = (await scan({ roots: [root] })).entries.filter(({ link }) => link !== undefined);
  expect(links.map(({ path, link, mode }) => [path, link, mode])).toEqual([
    ["bin/a", "../lib/a.ts", undefined],
    ["current", "lib", undefined],
    ["nowhere", "current/missing", undefined],
  ]);
});

test.each([
  ["../other", "it leads out of the tree"],
  ["/etc/passwd", 'its target is absolute, got "/etc/passwd"'],
  ["x/../../../other", "it leads out of the tree"],
  ["deep/../../../other", "it leads out of the tree"],
  ["self", "it leads to itself through other links"],
  ["loop", "it leads to itself through other links"],
])("a link to %s is refused", async (target, why) => {
  const root = folderWith({ "a/b/c.ts": "" });
  symlinkSync("a/b", path.join(root, "deep"));
  symlinkSync("self", path.join(root, "loop"));
  symlinkSync(target, path.join(root, "self"));
  const advice = "exclude it, or link to a file in the roots";
  const name = target === "loop" || target === "self" ? expect.any(String) : "self";
  const exclude = target === "loop" || target === "self" ? [] : ["loop"];
  const error = await rejection(scan({ roots: [root], exclude }));
  expect(error).toMatchObject({ code: "entry-refused", path: name });
  expect(error.message).toContain(
    `the link to "${target === "loop" ? error.message.split('"')[1] : target}" is not safe: ${why}; ${advice}`,
  );
});

test("a link between two roots is kept, and one to what is beside them is refused", async () => {
  const top = folderWith({ "app/a.ts": "", "lib/b.ts": "", "private/key": "" });
  symlinkSync("../lib/b.ts", path.join(top, "app/b.ts"));
  const roots = [path.join(top, "app"), path.join(top, "lib")];
  expect((await scan({ roots })).entries.find(({ path }) => path === "app/b.ts")?.link).toBe("../lib/b.ts");
  symlinkSync("../private/key", path.join(top, "app/key"));
  expect((await rejection(scan({ roots }))).message).toBe(
    `cannot scan ${top}/app: key is refused: the link to "../private/key" is not safe: it leads out of the roots; ` +
      "exclude it, or link to a file in the roots",
  );
});

test("modes are kept without the bits for set-user-id, set-group-id and sticky", async () => {
  const root = folderWith({ run: "#!/bin/sh\n", plain: "" });
  chmodSync(path.join(root, "run"), 0o7755);
  chmodSync(path.join(root, "plain"), 0o640);
  expect(lstatSync(path.join(root, "run")).mode & 0o7777).toBe(0o7755);
  const modes = (await scan({ roots: [root] })).entries.map(({ path, mode }) => [path, mode?.toString(8)]);
  expect(Object.fromEntries(modes)).toEqual({ run: "755", plain: "640" });
});

test.each([false, true])("a name that is not UTF-8 is refused with its bytes (git: %s)", async (inGit) => {
  const root = folderWith({ "sub/ok\ufffd.txt": "a valid name" });
  if (inGit) git(root, "init", "-q");
  await scan({ roots: [root] });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/sub/caf`), Buffer.from([0xe9]), Buffer.from(".txt")]), "");
  const error = await rejection(scan({ roots: [root] }));
  expect(error).toMatchObject({ code: "entry-refused", path: "sub/caf\\xe9.txt" });
  expect(error.message).toBe(
    `cannot scan ${root}: the name of a file is not valid UTF-8, got "sub/caf\\xe9.txt"; rename the file, or exclude its folder`,
  );
  const { entries } = await scan({ roots: [root], exclude: ["sub"] });
  expect(entries).toEqual([]);
});

test.each([false, true])(
  "too many files are refused with the folder that has most of them (git: %s)",
  async (inGit) => {
    // The default limit takes long to exceed.
    const limit = cases(2_000, 100_000);
    const root = folderWith({ "src/a.ts": "" });
    if (inGit) git(root, "init", "-q");
    for (let folder = 0; folder < (2 * limit) / 1000; folder++) {
      mkdirSync(path.join(root, `data/${folder}`), { recursive: true });
      for (let file = 0; file < 1000; file++) writeFileSync(path.join(root, `data/${folder}/${file}`), "");
    }
    const limits = limit === defaultScanLimits.files ? {} : { files: limit };
    const error = await rejection(scan({ roots: [root], limits }));
    expect(error).toMatchObject({ code: "over-limit", path: "data" });
    const shown = (count: number) => count.toLocaleString("en");
    expect(
      [limit, limit + 1].map(
        (inData) =>
          `cannot scan ${root}: it contains more than ${shown(limit)} files, ${shown(inData)} of them in data/; exclude what the program does ` +
          "not need, or raise limits.files",
      ),
    ).toContain(error.message);
    await expect(scan({ roots: [root], exclude: ["data"], limits })).resolves.toMatchObject({ filesRead: 1 });
  },
);

test("a file of 20 GB is refused by name before anything is read", async () => {
  const root = folderWith({ "a.ts": "abc", "model/weights.bin": "" });
  truncateSync(path.join(root, "model/weights.bin"), 20e9);
  const error = await rejection(scan({ roots: [root] }));
  expect(error).toMatchObject({ code: "over-limit", path: "model/weights.bin" });
  expect(error.message).toBe(
    `cannot scan ${root}: its files have 18.6 GiB, and the limit is 8 GiB; the largest file is model/weights.bin with 18.6 GiB; ` +
      "exclude what the program does not need, or raise limits.bytes",
  );
});

test("a file that changes each time it is read is refused by name", async () => {
  const root = repositoryWith({ "a.ts": "a", "growing.log": Buffer.alloc(16e6) });
  const source = `
    const { openSync, writeSync } = require("node:fs");
    const { workerData, parentPort } = require("node:worker_threads");
    const file = openSync(workerData, "r+");
    parentPort.postMessage("writing");
    for (;;) writeSync(file, "x", Math.floor(Math.random() * 16e6));
  `;
  const writer = new Worker(source, { eval: true, workerData: path.join(root, "growing.log") });
  await new Promise((resolve) => writer.once("message", resolve));
  try {
    const error = await rejection(scan({ roots: [root] }));
    expect(error).toMatchObject({ code: "changed", path: "growing.log" });
    expect(error.message).toBe(
      `cannot scan ${root}: growing.log has changed each of the 3 times that it was read; exclude it, or stop the program that writes it`,
    );
  } finally {
    await writer.terminate();
  }
});
