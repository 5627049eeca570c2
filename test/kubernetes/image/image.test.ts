/** Tests of images: their steps, their digests, and the files that they copy. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Image } from "../../../runtime/job/kubernetes/image/image.js";
import { imageBundle } from "../../../runtime/job/kubernetes/image/image-bundle.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "viceroy-image-"));
  // Users name files relative to the working directory.
  vi.spyOn(process, "cwd").mockReturnValue(folder);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const write = (name: string, content: string) => {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), content);
};
const at = (name: string) => join(folder, name);

describe("an image", () => {
  test("is immutable: each method returns a new one", () => {
    const base = Image.from("node:22");
    const more = base.run("true").env({ A: "1" });
    expect(base.toJSON()).toEqual({ from: "node:22", steps: [] });
    expect(more.toJSON().steps).toEqual([
      { kind: "run", command: "true" },
      { kind: "env", name: "A", value: "1" },
    ]);
  });

  test("has steps to apply only if one of them makes files", () => {
    const base = Image.from("node:22").env({ A: "1" }).workdir("/app");
    expect([base.hasSteps, base.run("true").hasSteps, base.npmInstall("x").hasSteps]).toEqual([false, true, true]);
    expect(imageBundle(base)).toBeUndefined();
  });

  test("has the last working directory, and the first one contains all files", () => {
    const image = Image.from("node:22").workdir("/app").workdir("server").workdir("../web");
    expect([image.folder, image.workingDirectory]).toEqual(["/app", "/app/web"]);
  });

  test("has the last value of each variable", () => {
    expect(Image.from("node:22").env({ A: "1", B: "2" }).env({ A: "3" }).environment).toEqual({ A: "3", B: "2" });
  });

  test("can be made again of its JSON", () => {
    write("data/a.txt", "a");
    const image = Image.from("node:22").workdir("/app").copy(at("data")).npmInstall("x@1").env({ A: "1" });
    expect(Image.fromJSON(JSON.parse(JSON.stringify(image))).digest).toBe(image.digest);
  });
});

describe("the digest of an image", () => {
  const base = Image.from("node:22").workdir("/app");

  test("depends on the container image, on each step, and on their order", () => {
    const images = [
      base,
      Image.from("node:20").workdir("/app"),
      base.run("a").run("b"),
      base.run("b").run("a"),
      base.run("a\nb"),
      base.env({ A: "1" }),
      base.env({ A: "2" }),
      base.npmInstall("a"),
      base.npmInstall("a", "b"),
    ];
    expect(new Set(images.map(({ digest }) => digest)).size).toBe(images.length);
  });

  test("depends on what is copied, and not on where it is", () => {
    write("one/data/a.txt", "a");
    write("two/data/a.txt", "a");
    const digest = () => base.copy(at("one/data")).digest;
    const before = digest();
    expect(base.copy(at("two/data")).digest).toBe(before);
    chmodSync(at("one/data/a.txt"), 0o755);
    const executable = digest();
    write("one/data/a.txt", "b");
    const changed = digest();
    write("one/data/b.txt", "");
    expect(new Set([before, executable, changed, digest()]).size).toBe(4);
  });
});

describe("what a step copies", () => {
  const filesOf = (image: Image) => {
    const { order, archive } = imageBundle(image)!;
    let offset = 0;
    const content = brotliDecompressSync(archive);
    return order.steps.flatMap((step) =>
      (step.files ?? []).map(({ path, type, isExecutable, length }) => {
        const text = content.subarray(offset, offset + length).toString();
        offset += length;
        return [path, type, isExecutable, text];
      }),
    );
  };

  test("is the folder with its files, executable bits and links inside, without node_modules and .git", () => {
    write("data/b/run.sh", "#!/bin/sh\n");
    chmodSync(at("data/b/run.sh"), 0o755);
    write("data/a.txt", "a");
    write("data/node_modules/x/index.js", "x");
    write("data/.git/HEAD", "x");
    symlinkSync("b/run.sh", at("data/link"));
    const image = Image.from("node:22").workdir("/app").copy(at("data"));
    expect(image.toJSON().steps.at(-1)).toMatchObject({ to: "/app/data" });
    expect(filesOf(image)).toEqual([
      ["", "folder", false, ""],
      ["a.txt", "file", false, "a"],
      ["b", "folder", false, ""],
      ["b/run.sh", "file", true, "#!/bin/sh\n"],
      ["link", "link", false, "b/run.sh"],
    ]);
  });

  test("is a single file, also under another name", () => {
    write("a.txt", "a");
    const image = Image.from("node:22").workdir("/app").copy(at("a.txt"), "b.txt");
    expect(image.toJSON().steps.at(-1)).toMatchObject({ to: "/app/b.txt" });
    expect(filesOf(image)).toEqual([["", "file", false, "a"]]);
  });

  test("is without what .dockerignore names, if there is a context", () => {
    write(".dockerignore", "# comments\n\n*.log\n/secret\n**/cache\n!keep.log\n");
    for (const name of ["a.js", "a.log", "keep.log", "secret/key", "b/cache/x", "b/c.log", "b/secret/x"]) {
      write(`app/${name}`, name);
    }
    write("app/.dockerignore", "*.log\n/secret\n**/cache\n!keep.log\n");
    const names = (image: Image) => filesOf(image).flatMap(([path, type]) => (type === "file" ? [path] : []));
    const base = Image.from("node:22").workdir("/app");
    expect(names(base.copy(at("app"), ".", { context: at("app") }))).toEqual([
      ".dockerignore",
      "a.js",
      "b/c.log",
      "b/secret/x",
      "keep.log",
    ]);
    expect(names(base.copy(at("app/b"), "b", { context: at("app") }))).toEqual(["c.log", "secret/x"]);
    expect(names(base.copy(at("app/b"), "b"))).toEqual(["c.log", "cache/x", "secret/x"]);
  });

  test("must be the same when the job is submitted", () => {
    write("a.txt", "a");
    const image = Image.from("node:22").workdir("/app").copy(at("a.txt"));
    write("a.txt", "b");
    expect(() => imageBundle(image)).toThrow(
      `cannot copy ${at("a.txt")} into an image: its files have changed since the image was described; run the program again`,
    );
  });

  test("must be there, inside of what is copied, and not too large", async () => {
    const base = Image.from("node:22").workdir("/app");
    expect(() => base.copy(at("none"))).toThrow(`cannot copy ${at("none")} into an image: ENOENT`);
    write("large", "x".repeat(4 * 2 ** 20 + 1));
    expect(() => base.copy(at("large"))).toThrow(
      `cannot copy ${at("large")} into an image: its files have more than 4 MiB, the limit for all files of an image; bring larger ` +
        'files with sync: { roots: ["…"] } of the job, or put them on a volume',
    );
    write("data/x", "");
    symlinkSync("../large", at("data/link"));
    expect(() => base.copy(at("data"))).toThrow(
      `cannot copy ${at("data/link")} into an image: it is a symbolic link to ../large, outside of ${at("data")}; copy what it leads to instead`,
    );
    const server = createServer().listen(at("socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    expect(() => base.copy(at("socket"))).toThrow("it is a socket; copy files only");
    server.close();
  });

  test("is limited for all steps together", () => {
    write("half", "x".repeat(3 * 2 ** 20));
    const image = Image.from("node:22").workdir("/app").copy(at("half")).copy(at("half"), "other");
    expect(() => imageBundle(image)).toThrow(
      "cannot make an image: its steps copy 6291456 bytes, and 4194304 is the limit for all of them",
    );
  });
});

describe("steps that cannot be applied are refused", () => {
  const image = Image.from("node:22").workdir("/app");

  test.each<[string, () => unknown, string]>([
    [
      "the name of an image",
      () => Image.from("scratch space"),
      'expected image as the name of a container image, such as "node:22" or',
    ],
    [
      "the name of a variable",
      () => image.env({ "A B": "x" }),
      'expected names in env of an image as letters, digits and _ that do not begin with a digit, got "A B"',
    ],
    [
      "a variable of Viceroy",
      () => image.env({ VICEROY_JOB: "x" }),
      "expected names in env of an image without VICEROY_ at their start",
    ],
    [
      "the value of a variable",
      () => image.env({ A: 1 as unknown as string }),
      "expected A in env of an image as text, got 1",
    ],
    ["an empty command", () => image.run(" "), 'expected run of an image as a command of the shell, got " "'],
    [
      "a second folder",
      () => image.workdir("/srv"),
      'expected workdir of an image inside of /app, which contains all of its files, got "/srv"',
    ],
    [
      "a folder of the system",
      () => Image.from("node:22").workdir("/usr/lib"),
      'expected workdir of an image as a folder of its own, such as "/app", got "/usr/lib"',
    ],
    [
      "the folder of Viceroy",
      () => Image.from("node:22").workdir("/viceroy"),
      'expected workdir of an image as a folder of its own, such as "/app", got "/viceroy"',
    ],
    [
      "a target outside",
      () => image.copy("x", "/etc/x"),
      'expected the second path of copy inside of /app, which contains all files of the image, got "/etc/x"',
    ],
    ["no source", () => image.copy(""), 'expected copy of an image with the path of a file or folder, got ""'],
    [
      "an option as a package",
      () => image.npmInstall("--global"),
      'expected npmInstall of an image with names of packages, such as "sharp@0.34", got "--global"',
    ],
  ])("%s", (_, make, message) => {
    expect(make).toThrow(`cannot make a job: ${message}`);
  });

  test("npmInstall without packages needs the lock", () => {
    expect(() => image.npmInstall()).toThrow("cannot copy package.json into an image: ENOENT");
  });
});
