/** The images of the real cluster, made from files of this machine: Node.js with npm and a shell, and what pods begin with. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { DebianPrograms } from "./debian-programs.js";

/** The image that holds the namespaces of each pod. */
export const pauseImage = "viceroy.test/pause:1";

export interface ImageArchive {
  /** The name of the image without its tag, which is `1`. */
  readonly name: string;
  readonly file: string;
}

/** The image of the controller. */
export const controllerImage = "viceroy.test/controller:1";

/** Returns the archives of the images that all nodes have. They are made once for each version of Node.js. */
export function imageArchives(debian: DebianPrograms): ImageArchive[] {
  const folder = path.join(path.dirname(debian.folder), `images-${process.version}`);
  const names = ["pause", "node"] as const;
  if (!existsSync(folder)) {
    const building = `${folder}.${process.pid}`;
    mkdirSync(building, { recursive: true });
    for (const name of names) makeArchive(debian, building, name);
    renameSync(building, folder);
  }
  return names.map((name) => ({ name: `viceroy.test/${name}`, file: path.join(folder, `${name}.tar`) }));
}

/**
 * Makes the image of the controller from the built checkout: Node.js with the package viceroy, as
 * docs/how-to/provision-hosts-from-a-program.md tells users to make it.
 * @param folder the folder for the archive
 */
export function controllerArchive(debian: DebianPrograms, folder: string): ImageArchive {
  makeArchive(debian, folder, "controller");
  return { name: "viceroy.test/controller", file: path.join(folder, "controller.tar") };
}

function makeArchive(debian: DebianPrograms, folder: string, name: "pause" | "node" | "controller"): void {
  const layout = path.join(folder, name);
  const bundle = path.join(folder, `${name}-bundle`);
  const image = `${layout}:1`;
  const umoci = (...args: string[]) =>
    execFileSync("umoci", args, { env: debian.env, stdio: ["ignore", "ignore", "pipe"] });
  umoci("init", "--layout", layout);
  umoci("new", "--image", image);
  umoci("unpack", "--image", image, bundle);
  const root = path.join(bundle, "rootfs");
  addShell(debian, root);
  if (name !== "pause") addNode(root);
  if (name === "controller") addViceroy(root);
  umoci("repack", "--image", image, bundle);
  const run =
    name !== "pause"
      ? ["--config.cmd", "node"]
      : ["--config.entrypoint", "/bin/busybox", "--config.cmd", "sleep", "--config.cmd", "infinity"];
  umoci("config", "--image", image, ...run, "--config.env", "PATH=/usr/local/bin:/usr/bin:/bin");
  execFileSync("tar", ["-C", layout, "-cf", `${layout}.tar`, "."]);
  for (const made of [layout, bundle]) rmSync(made, { recursive: true });
}

function addShell({ folder, env }: DebianPrograms, root: string): void {
  for (const name of ["bin", "etc", "proc", "sys", "dev", "usr/bin"])
    mkdirSync(path.join(root, name), { recursive: true });
  mkdirSync(path.join(root, "tmp"), { mode: 0o1777 });
  const busybox = path.join(folder, "bin/busybox");
  copyFileSync(busybox, path.join(root, "bin/busybox"));
  for (const name of execFileSync(busybox, ["--list"], { encoding: "utf8", env }).trim().split("\n")) {
    if (name !== "busybox") symlinkSync("busybox", path.join(root, "bin", name));
  }
  writeFileSync(path.join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n");
  writeFileSync(path.join(root, "etc/group"), "root:x:0:\nnode:x:1000:\n");
}

/** Adds this Node.js with the libraries that it is linked to, and its npm. */
function addNode(root: string): void {
  const local = path.join(root, "usr/local");
  mkdirSync(path.join(local, "bin"), { recursive: true });
  copyFileSync(process.execPath, path.join(local, "bin/node"));
  for (const [library] of execFileSync("ldd", [process.execPath], { encoding: "utf8" }).matchAll(/\/\S+/g)) {
    mkdirSync(path.join(root, path.dirname(library)), { recursive: true });
    copyFileSync(realpathSync(library), path.join(root, library));
  }
  const npm = path.join(path.dirname(process.execPath), "../lib/node_modules/npm");
  if (!existsSync(npm)) return;
  cpSync(npm, path.join(local, "lib/node_modules/npm"), { recursive: true, dereference: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", path.join(local, "bin/npm"));
}

/** Adds the package viceroy without its dependencies, as it is published. The controller needs none. */
function addViceroy(root: string): void {
  const repository = fileURLToPath(new URL("../../..", import.meta.url));
  const installed = path.join(root, "usr/local/lib/node_modules/viceroy");
  mkdirSync(installed, { recursive: true });
  const isLeftOut = (file: string) => file.endsWith(".map") || path.basename(file) === "node_modules";
  for (const name of ["package.json", "dist"]) {
    cpSync(path.join(repository, name), path.join(installed, name), {
      recursive: true,
      filter: (file) => !isLeftOut(file),
    });
  }
  symlinkSync("../lib/node_modules/viceroy/dist/cli/viceroy.js", path.join(root, "usr/local/bin/viceroy"));
  chmodSync(path.join(installed, "dist/cli/viceroy.js"), 0o755);
  // npm's commands are run by /usr/bin/env.
  symlinkSync("/bin/busybox", path.join(root, "usr/bin/env"));
}
