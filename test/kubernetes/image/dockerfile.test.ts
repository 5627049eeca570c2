/** Tests of images that are read from Dockerfiles. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Image } from "../../../runtime/job/kubernetes/image/image.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "viceroy-dockerfile-"));
  file = join(folder, "Dockerfile");
  for (const name of ["src/index.js", "src/lib/a.js", "package.json", "package-lock.json", "data/x.bin"]) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), name);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

function read(...lines: readonly string[]): Image {
  writeFileSync(file, lines.join("\n"));
  return Image.fromDockerfile(file);
}

/** Returns the steps without the digests of files, and with paths relative to the Dockerfile. */
function stepsOf(...lines: readonly string[]): object[] {
  return read(...lines)
    .toJSON()
    .steps.map((step) => {
      if (step.kind !== "copy") return step;
      return { copy: step.from.slice(folder.length + 1) || ".", to: step.to };
    });
}

describe("a Dockerfile", () => {
  test("becomes the same steps as in code", () => {
    const image = read(
      "# syntax=docker/dockerfile:1",
      "FROM node:22-slim AS base",
      "WORKDIR /app",
      "ENV MODE=fast",
      "COPY package.json package-lock.json ./",
      "RUN npm ci",
    );
    const expected = Image.from("node:22-slim")
      .workdir("/app")
      .env({ MODE: "fast" })
      .copy(join(folder, "package.json"), "package.json", { context: folder })
      .copy(join(folder, "package-lock.json"), "package-lock.json", { context: folder })
      .run("npm ci");
    expect(image.toJSON()).toEqual(expected.toJSON());
  });

  test("can continue lines, with comments and empty lines between them", () => {
    expect(stepsOf("from node", "run a \\", "  # a comment", "", "  && b \\  ", "  && c", "", "  RUN d")).toEqual([
      { kind: "run", command: "a   && b   && c" },
      { kind: "run", command: "d" },
    ]);
  });

  test("can set several variables, quoted, and the old form", () => {
    const image = read(
      "FROM node",
      `ENV A=1 B="two words" C=it\\'s D='$A' E=a\\ b`,
      "ENV OLD some text",
      `ENV F=$A-\${B} G=\${NONE:-x} H=\${A:+yes} I=\\$A`,
    );
    expect(image.environment).toEqual({
      A: "1",
      B: "two words",
      C: "it's",
      D: "$A",
      E: "a b",
      OLD: "some text",
      F: "1-two words",
      G: "x",
      H: "yes",
      I: "$A",
    });
  });

  test("can run commands in the form of JSON, each word as it is", () => {
    expect(stepsOf("FROM node", `RUN ["node", "-e", "console.log('a  b')"]`)).toEqual([
      { kind: "run", command: `'node' '-e' 'console.log('\\''a  b'\\'')'` },
    ]);
  });

  test("leaves variables in commands to the shell", () => {
    expect(stepsOf("FROM node", `RUN echo $HOME \${X}`)).toEqual([{ kind: "run", command: `echo $HOME \${X}` }]);
  });

  test("can copy folders, files and patterns", () => {
    const copies = (line: string) => stepsOf("FROM node", "WORKDIR /app", "ENV TO=lib", line).slice(2);
    expect(copies("COPY . .")).toEqual([{ copy: ".", to: "/app" }]);
    expect(copies("COPY src ./source/")).toEqual([{ copy: "src", to: "/app/source" }]);
    expect(copies("COPY src/index.js main.js")).toEqual([{ copy: "src/index.js", to: "/app/main.js" }]);
    expect(copies("COPY /src/index.js $TO/")).toEqual([{ copy: "src/index.js", to: "/app/lib/index.js" }]);
    expect(copies("COPY package*.json ./")).toEqual([
      { copy: "package-lock.json", to: "/app/package-lock.json" },
      { copy: "package.json", to: "/app/package.json" },
    ]);
    expect(copies("COPY s?c/*.js .")).toEqual([{ copy: "src/index.js", to: "/app/index.js" }]);
    expect(copies('COPY ["src/index.js", "a b.js"]')).toEqual([{ copy: "src/index.js", to: "/app/a b.js" }]);
  });
});

describe("what cannot be applied when a pod starts is named with its line", () => {
  test.each<[readonly string[], string]>([
    [
      ["FROM node", "RUN a", "FROM node"],
      "3: FROM: a second FROM starts another stage, and pods start from one image; remove the stages",
    ],
    [["FROM scratch"], "1: FROM: an empty image has no Node.js; name an image with Node.js, such as node:22"],
    [["FROM --platform=linux/amd64 node"], "1: FROM: --platform=linux/amd64 is an option of builds; remove it"],
    [["FROM node:$V"], "1: FROM: node:$V has a variable, and there are none before FROM; write the name"],
    [["FROM Node"], '1: FROM: cannot make a job: expected image as the name of a container image, such as "node:22"'],
    [["ARG A=1", "FROM node"], "1: ARG: arguments have values only while an image is built; write ENV with the value"],
    [
      ["FROM node", "ADD https://x/y /y"],
      "2: ADD: it unpacks archives and downloads; use COPY for files, and RUN for what is downloaded",
    ],
    [
      ["FROM node", 'ENTRYPOINT ["node"]'],
      "2: ENTRYPOINT: the pods run the daemon of Viceroy; remove the line, and write RUN for what must run before it",
    ],
    [["FROM node", "CMD node"], "2: CMD: the pods run the daemon of Viceroy; remove the line"],
    [
      ["FROM node", "USER node"],
      "2: USER: the pods run as one user; set spec.securityContext.runAsUser in the template of Compute",
    ],
    [["FROM node", "VOLUME /x"], "2: VOLUME: pods have the volumes of Compute; use its option volumes"],
    [["FROM node", "EXPOSE 1"], "2: EXPOSE: the pods of a mesh reach each other at all ports; remove the line"],
    [["FROM node", "SHELL x"], "2: SHELL: commands run with sh; write the other shell in RUN"],
    [
      ["FROM node", "COPPY a b"],
      "2: COPPY: there is no such instruction; FROM, ENV, RUN, COPY and WORKDIR can be used",
    ],
    [["RUN a"], "1: RUN: it is before FROM; write FROM in the first line"],
    [["FROM node", "RUN --mount=type=cache,target=/x a"], "2: RUN: --mount is an option of builds; remove it"],
    [
      ["FROM node", "RUN <<EOF", "EOF"],
      "2: RUN: it has its commands in a here-document; write them in lines that end with && \\",
    ],
    [
      ["FROM node", "COPY --from=build /a /b"],
      "2: COPY: --from copies from another stage or image, and pods start from one image; copy files of this machine",
    ],
    [
      ["FROM node", "COPY --chown=1 src x"],
      "2: COPY: --chown is not supported, because files belong to the user of the pods; remove it",
    ],
    [["FROM node", "COPY src"], "2: COPY: expected sources and a target, got src"],
    [
      ["FROM node", "COPY ../x ."],
      "2: COPY: ../x is outside of the folder of the Dockerfile; copy files of that folder",
    ],
    [["FROM node", "COPY *.zip ."], "2: COPY: *.zip matches no file in "],
    [["FROM node", "COPY none ."], "2: COPY: ENOENT"],
    [
      ["FROM node", "COPY package.json package-lock.json x"],
      "2: COPY: several files need a target that ends with /, got x",
    ],
    [
      ["FROM node", "COPY src /etc"],
      "2: COPY: cannot make a job: expected the second path of copy inside of /viceroy/app",
    ],
    [
      ["FROM node", "ENV PATH=/app/bin:$PATH"],
      "2: ENV: $PATH is not set by an ENV before it, and its value in the container image is not known; write the value, or set it in a RUN",
    ],
    [["FROM node", "ENV A"], "2: ENV: expected NAME=value, got A"],
    [["FROM node", "ENV A='x"], "2: ENV: the quote ' has no end"],
    [["FROM node", "WORKDIR /a b"], "2: WORKDIR: expected one path, got /a b"],
    [
      ["FROM node", "WORKDIR /etc/x"],
      "2: WORKDIR: cannot make a job: expected workdir of an image as a folder of its own",
    ],
  ])("%j", (lines, message) => {
    expect(() => read(...lines)).toThrow(`cannot use ${file}:${message}`);
  });

  test("all lines are named at once", () => {
    expect(() => read("FROM node", "USER x", "RUN true", "CMD x")).toThrow(
      `cannot use ${file}:2: USER: the pods run as one user; set spec.securityContext.runAsUser in the template of Compute\n` +
        `cannot use ${file}:4: CMD: the pods run the daemon of Viceroy; remove the line`,
    );
  });

  test("a file that is empty, missing, or has another escape character is an error", () => {
    expect(() => read("# nothing")).toThrow(`cannot use ${file}: it has no FROM`);
    expect(() => read("# escape=`", "FROM node")).toThrow(`cannot use ${file}:1: another escape character; use \\`);
    rmSync(file);
    expect(() => Image.fromDockerfile(file)).toThrow(`cannot use the Dockerfile ${file}: ENOENT`);
  });
});
