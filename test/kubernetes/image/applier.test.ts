/** Tests of the program that applies the steps of an image in a pod: each pod is a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Image } from "../../../runtime/job/kubernetes/image/image.js";
import { imageBundle } from "../../../runtime/job/kubernetes/image/image-bundle.js";
import { until } from "../../proc/until.js";

const program = fileURLToPath(new URL("../../../dist/job-kubernetes-image.cjs", import.meta.url));

let root: string;
/** The folder of this machine from which images copy. */
let source: string;
/** The file to which commands append a line each time they run. */
let ran: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "viceroy-applier-"));
  source = join(root, "source");
  mkdirSync(source);
  ran = join(root, "ran");
  writeFileSync(ran, "");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface End {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A pod with a folder of its own: it sees the order, and a cache if it has one. */
class Pod {
  readonly folder: string;
  readonly orderFile: string;

  constructor(name: string, image: (base: Image) => Image) {
    this.folder = join(root, name, "app");
    const { order, archive } = imageBundle(image(Image.from("node:22").workdir("/app")))!;
    const files = join(root, name, "order");
    this.orderFile = join(files, "image.json");
    mkdirSync(files, { recursive: true });
    // Pods have file systems of their own, and tests have folders instead.
    writeFileSync(this.orderFile, JSON.stringify(order).replaceAll('"/app', `"${this.folder}`));
    const middle = Math.ceil(archive.length / 2);
    writeFileSync(join(files, "files.0"), archive.subarray(0, middle));
    writeFileSync(join(files, "files.1"), archive.subarray(middle));
  }

  start(cache?: string): ChildProcess {
    const args = [program, this.orderFile, ...(cache === undefined ? [] : [cache])];
    return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, RAN: ran } });
  }

  run(cache?: string): Promise<End> {
    return endOf(this.start(cache));
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }
}

async function endOf(child: ChildProcess): Promise<End> {
  const texts = ["", ""];
  for (const [index, stream] of [child.stdout!, child.stderr!].entries()) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      texts[index] += chunk;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout: texts[0]!, stderr: texts[1]! };
}

const runs = () => readFileSync(ran, "utf8");

test("steps are applied in order, each in the directory and with the variables of those before it", async () => {
  writeFileSync(join(source, "tool.sh"), '#!/bin/sh\necho "$MODE $(pwd)" > result\n');
  chmodSync(join(source, "tool.sh"), 0o755);
  symlinkSync("tool.sh", join(source, "link"));
  mkdirSync(join(source, "empty"));
  const pod = new Pod("a", (base) =>
    base
      .copy(source, "tools")
      .env({ MODE: "slow" })
      .workdir("inner")
      .run("../tools/link")
      .env({ MODE: "fast" })
      .run('cat result; echo "$MODE"'),
  );
  const { code, stdout, stderr } = await pod.run();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(pod.read("inner/result")).toBe(`slow ${pod.folder}/inner\n`);
  expect(readlinkSync(join(pod.folder, "tools/link"))).toBe("tool.sh");
  expect(lstatSync(join(pod.folder, "tools/empty")).isDirectory()).toBe(true);
  expect(stdout).toContain(`viceroy image: step 7 of 7, RUN cat result; echo "$MODE": is applied\n`);
  expect(stdout).toContain(`viceroy image: slow ${pod.folder}/inner\nviceroy image: fast\n`);
});

test("npm installs packages in the working directory, where modules find them", async () => {
  mkdirSync(join(source, "pkg"));
  writeFileSync(join(source, "pkg/package.json"), JSON.stringify({ name: "answers", version: "1.0.0", main: "a.cjs" }));
  writeFileSync(join(source, "pkg/a.cjs"), "module.exports = 42;\n");
  writeFileSync(join(source, "package.json"), JSON.stringify({ dependencies: { answers: "file:pkg" } }));
  const lock = {
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { answers: "file:pkg" } },
      "node_modules/answers": { resolved: "pkg", link: true },
      pkg: { name: "answers", version: "1.0.0" },
    },
  };
  writeFileSync(join(source, "package-lock.json"), JSON.stringify(lock));
  const pod = new Pod("a", (base) => {
    const copied = base.copy(source, ".").toJSON();
    const install = { kind: "npmInstall", packages: [] } as const;
    const use = { kind: "run", command: `node -p "require('answers')" > answer` } as const;
    return Image.fromJSON({ ...copied, steps: [...copied.steps, install, use] });
  });
  const { code, stderr } = await pod.run();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(pod.read("answer")).toBe("42\n");
});

describe("a step that fails", () => {
  const failure = async (image: (base: Image) => Image): Promise<End> => new Pod("a", image).run();

  test("is named with its number, its exit code and what it has printed", async () => {
    const { code, stderr } = await failure((base) => base.run("true").run("echo one; echo two >&2; exit 3"));
    expect(code).toBe(65);
    expect(stderr).toMatch(
      /^viceroy image: cannot apply step 3 of the image, RUN echo one; echo two >&2; exit 3: it has ended with exit code 3, and has printed last:\n/,
    );
    expect(stderr.split("\n").slice(1).sort()).toEqual(["", "one", "two"]);
  });

  test("is named if a signal has ended it, or it has printed nothing", async () => {
    const { code, stderr } = await failure((base) => base.run("kill -9 $$"));
    expect(code).toBe(65);
    expect(stderr).toBe(
      "viceroy image: cannot apply step 2 of the image, RUN kill -9 $$: it was ended by SIGKILL, which the system sends when the pod " +
        "uses too much memory, and has printed nothing\n",
    );
  });

  test("is named if a file cannot be written", async () => {
    writeFileSync(join(source, "a"), "a");
    const { code, stderr } = await failure((base) => base.run("touch b").copy(join(source, "a"), "b/c"));
    expect(code).toBe(65);
    expect(stderr).toMatch(/^viceroy image: cannot apply step 3 of the image, COPY \S+\/a \S+\/b\/c: \w+: /);
  });

  test("is applied again by the next start, without what it has left", async () => {
    const pod = new Pod("a", (base) => base.run("echo 1 >> $RAN; touch left; test $(wc -l < $RAN) = 2 && ls > seen"));
    expect((await pod.run()).code).toBe(65);
    expect(existsSync(join(pod.folder, "left"))).toBe(true);
    expect((await pod.run()).code).toBe(0);
    // The shell creates "seen" before it runs ls.
    expect(pod.read("seen")).toBe("left\nseen\n");
  });
});

test("a pod that starts again applies nothing again, and keeps its store", async () => {
  const pod = new Pod("a", (base) => base.run("echo 1 >> $RAN"));
  await pod.run();
  mkdirSync(join(pod.folder, ".viceroy-store"));
  const { code, stdout } = await pod.run();
  expect({ code, stdout }).toEqual({ code: 0, stdout: "viceroy image: 2 of 2 steps have been applied before\n" });
  expect(runs()).toBe("1\n");
});

test("an image that differs starts from an empty folder, except for the store", async () => {
  await new Pod("a", (base) => base.run("touch old")).run();
  const pod = new Pod("a", (base) => base.run("touch new"));
  mkdirSync(join(pod.folder, ".viceroy-store"));
  await pod.run();
  expect(readdirSync(pod.folder).sort()).toEqual([".viceroy-image", ".viceroy-store", "new"]);
});

test("an image with more steps than before continues where it was", async () => {
  await new Pod("a", (base) => base.run("echo 1 >> $RAN")).run();
  await new Pod("a", (base) => base.run("echo 1 >> $RAN").run("echo 2 >> $RAN")).run();
  expect(runs()).toBe("1\n2\n");
});

describe("pods of a node that share a cache", () => {
  const cache = () => join(root, "cache");
  let pods = 0;
  const pod = (image: (base: Image) => Image): Pod => new Pod(`pod-${pods++}`, image);

  test("apply each step once, also later ones with other last steps", async () => {
    const common = (base: Image) =>
      base.run("echo 1 >> $RAN; mkdir bin; ln -s ../tool bin/tool; echo x > tool; chmod 755 tool").env({ A: "1" });
    await pod(common).run(cache());
    const other = pod((base) => common(base).run("echo 2 >> $RAN; echo $A > seen"));
    const { code, stdout } = await other.run(cache());
    expect(code).toBe(0);
    expect(stdout).toContain("viceroy image: 2 of 4 steps come from the cache\n");
    expect(runs()).toBe("1\n2\n");
    expect(other.read("seen")).toBe("1\n");
    expect(readlinkSync(join(other.folder, "bin/tool"))).toBe("../tool");
    expect(lstatSync(join(other.folder, "tool")).mode & 0o777).toBe(0o755);
    // The first one again: nothing is applied, and nothing of the other is there.
    const again = pod(common);
    await again.run(cache());
    expect(runs()).toBe("1\n2\n");
    expect(existsSync(join(again.folder, "seen"))).toBe(false);
  });

  test("copied files that follow a cached step are those of the image", async () => {
    for (const name of ["one", "two"]) writeFileSync(join(source, name), name);
    const image = (base: Image) => base.copy(join(source, "one")).run("echo 1 >> $RAN").copy(join(source, "two"));
    await pod(image).run(cache());
    const again = pod(image);
    await again.run(cache());
    expect([again.read("one"), again.read("two"), runs()]).toEqual(["one", "two", "1\n"]);
  });

  test("that start at the same time apply a step once, and the others wait", async () => {
    const image = (base: Image) => base.run("echo 1 >> $RAN; sleep 1; echo made > made");
    const started = [pod(image), pod(image), pod(image)];
    const ends = await Promise.all(started.map((each) => each.run(cache())));
    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(Array(3).fill({ code: 0, stderr: "" }));
    expect(started.map((each) => each.read("made"))).toEqual(Array(3).fill("made\n"));
    expect(runs()).toBe("1\n");
  });

  test("take over from one that was killed in the middle of a step", async () => {
    const image = (base: Image) => base.run("echo 1 >> $RAN; test $(wc -l < $RAN) = 2 || sleep 1000");
    const first = pod(image);
    const child = first.start(cache());
    await until(() => runs() === "1\n");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(readdirSync(cache())).toEqual([expect.stringMatching(/\.lock$/)]);
    expect(await pod(image).run(cache())).toMatchObject({ code: 0, stderr: "" });
    expect(runs()).toBe("1\n1\n");
    expect(readdirSync(cache())).toEqual([expect.not.stringMatching(/\.lock$/)]);
  });

  test("remove results that none has used for two weeks", async () => {
    await pod((base) => base.run("echo 1 >> $RAN")).run(cache());
    const [entry = ""] = readdirSync(cache());
    const old = new Date(Date.now() - 15 * 86_400_000);
    utimesSync(join(cache(), entry), old, old);
    await pod((base) => base.run("echo 2 >> $RAN")).run(cache());
    expect(readdirSync(cache())).toEqual([expect.not.stringContaining(entry)]);
  });

  test("say what to do if they cannot write it", async () => {
    writeFileSync(cache(), "a file");
    const { code, stderr } = await pod((base) => base.run("true")).run(cache());
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^viceroy image: cannot keep the results of steps in imageCache: EEXIST.*; give the folder to the user \d+ of the pods, or leave imageCache out\n$/,
    );
  });
});

test("SIGTERM ends a step with all of its processes", async () => {
  const pod = new Pod("a", (base) => base.run("echo $$ >> $RAN; sleep 1000 & wait"));
  const child = pod.start();
  await until(() => runs() !== "");
  child.kill("SIGTERM");
  const { code } = await endOf(child);
  expect(code).toBe(143);
  const group = Number(runs());
  await until(() => {
    try {
      process.kill(-group, 0);
      return false;
    } catch {
      return true;
    }
  });
});
