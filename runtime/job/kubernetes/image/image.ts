/** `Image`: a container image, and the steps that are applied to it when a pod starts. */
import { posix } from "node:path";
import { optionError } from "../../check-option.js";
import { defaultFolder } from "../manifest/layout.js";
import { checkEnvName } from "../manifest/names.js";
import { contentDigest, readCopied } from "./copied-files.js";
import { imageOfDockerfile } from "./dockerfile.js";
import { baseDigest, type ImageStep, stepDigest } from "./steps.js";

/** An image as plain JSON. */
export type ImageSpec = {
  readonly from: string;
  readonly steps: readonly ImageStep[];
};

/** Names of container images: registry, path, tag and digest. */
const imageName = /^[a-z0-9](?:[\w.:/-]*[A-Za-z0-9])?(?:@sha256:[0-9a-f]{64})?$/;

/** Folders that cannot be the working directory of an image: Viceroy uses them, or they would hide the system. */
const takenFolders = [
  "/viceroy/program",
  "/viceroy/files",
  "/viceroy/secret",
  "/viceroy/cache",
  "/bin",
  "/dev",
  "/etc",
  "/lib",
  "/lib64",
  "/proc",
  "/root",
  "/run",
  "/sbin",
  "/sys",
  "/tmp",
  "/usr",
  "/var",
];

/**
 * A container image with Node.js, and steps that each pod applies before its host starts: packages, files, commands. Steps are identified
 * by their content and kept where `imageCache` of `Compute` says, so that a change repeats only the steps from there on, and builds
 * no image. An image is immutable: each method returns a new one.
 *
 * All files of the steps are in the working directory, which is empty at first, also if the container image has files there. The rest of the
 * pod's file system cannot be written, and steps do not run as root: packages of the system must be in the container image.
 */
export class Image {
  /** The name of the container image. */
  readonly base: string;
  readonly #steps: readonly ImageStep[];

  private constructor(base: string, steps: readonly ImageStep[]) {
    this.base = base;
    this.#steps = steps;
  }

  /**
   * Names a container image, which must contain Node.js.
   *
   * @param name the name, such as `"node:22"`
   * @throws {TypeError} when the name is malformed
   */
  static from(name: string): Image {
    if (typeof name !== "string" || !imageName.test(name) || name.includes("//")) {
      throw optionError(
        'image as the name of a container image, such as "node:22" or "registry.example/team/image:1"',
        name,
      );
    }
    return new Image(name, []);
  }

  /**
   * Reads the instructions FROM, ENV, RUN, COPY and WORKDIR of a Dockerfile. Files are copied from its folder, without those that `.dockerignore`
   * there names.
   *
   * @param path the path of the Dockerfile
   * @throws {TypeError} when a line cannot be applied when a pod starts; the message has the line and what to do
   * @throws {Error} when the file, or a file that it copies, cannot be read
   */
  static fromDockerfile(path: string): Image {
    return imageOfDockerfile(path, Image.from);
  }

  /**
   * Makes an image of what `toJSON` has returned.
   *
   * @hidden
   */
  static fromJSON({ from, steps }: ImageSpec): Image {
    return new Image(Image.from(from).base, steps);
  }

  /**
   * Sets environment variables for the steps that follow, and for the host and its processes.
   *
   * @param variables the values by name
   * @throws {TypeError} when a name cannot be that of a variable, or a value is no text
   */
  env(variables: Readonly<Record<string, string>>): Image {
    const steps = Object.entries(variables).map(([name, value]): ImageStep => {
      checkEnvName("env of an image", name);
      if (name.startsWith("VICEROY_"))
        throw optionError("names in env of an image without VICEROY_ at their start", name);
      if (typeof value !== "string") throw optionError(`${name} in env of an image as text`, value);
      return { kind: "env", name, value };
    });
    return this.#with(...steps);
  }

  /**
   * Runs a command of the shell in the working directory.
   *
   * @param command the command, for `sh -c`
   * @throws {TypeError} when the command is empty
   */
  run(command: string): Image {
    if (typeof command !== "string" || command.trim() === "" || command.includes("\0")) {
      throw optionError("run of an image as a command of the shell", command);
    }
    return this.#with({ kind: "run", command });
  }

  /**
   * Sets the working directory. The first one contains all files of the image.
   *
   * @param path an absolute path, or one relative to the working directory
   * @throws {TypeError} when the path is outside of the first working directory, or belongs to the system
   */
  workdir(path: string): Image {
    if (typeof path !== "string" || path === "" || /[:\0]/.test(path)) {
      throw optionError('workdir of an image as a path, such as "/app"', path);
    }
    const absolute = posix.resolve(this.workingDirectory ?? defaultFolder, path);
    const { folder } = this;
    if (folder !== undefined && !isInside(absolute, folder)) {
      throw optionError(`workdir of an image inside of ${folder}, which contains all of its files`, path);
    }
    if (absolute === "/" || absolute === "/viceroy" || takenFolders.some((taken) => isInside(absolute, taken))) {
      throw optionError('workdir of an image as a folder of its own, such as "/app"', path);
    }
    return this.#with({ kind: "workdir", path: absolute });
  }

  /**
   * Copies a file or folder of this machine. Its content is read now, and again when the job is submitted. Folders are copied without
   * `node_modules` and `.git`.
   *
   * @param from the path of the file or folder
   * @param to the path in the image, relative to the working directory; default: the name of the file or folder
   * @param options `context`: the folder whose `.dockerignore` says which files are left out
   * @throws {TypeError} when the path in the image is outside of the working directory
   * @throws {RangeError} when the files are too large for this way
   * @throws {Error} when a file cannot be read
   */
  copy(
    from: string,
    to: string = posix.basename(posix.resolve("/", from)),
    { context }: { readonly context?: string } = {},
  ): Image {
    const directory = this.workingDirectory ?? defaultFolder;
    const absolute = posix.resolve(directory, to);
    const folder = this.folder ?? defaultFolder;
    if (!isInside(absolute, folder)) {
      throw optionError(`the second path of copy inside of ${folder}, which contains all files of the image`, to);
    }
    const copy = { from, ...(context === undefined ? {} : { context }) };
    return this.#with({ kind: "copy", ...copy, to: absolute, content: contentDigest(readCopied(copy)) });
  }

  /**
   * Installs npm packages in the working directory.
   *
   * @param packages the packages, such as `"sharp@0.34"`; none: those of `package.json` and `package-lock.json` in this program's working directory,
   *   without the ones for development
   * @throws {Error} when there are no packages, and `package-lock.json` cannot be read
   */
  npmInstall(...packages: readonly string[]): Image {
    for (const name of packages) {
      if (typeof name !== "string" || !/^[@\w][^\s\0]*$/.test(name)) {
        throw optionError('npmInstall of an image with names of packages, such as "sharp@0.34"', name);
      }
    }
    const install: ImageStep = { kind: "npmInstall", packages };
    if (packages.length > 0) return this.#with(install);
    return this.copy("package.json").copy("package-lock.json").#with(install);
  }

  /** Whether there is anything to do when a pod starts. */
  get hasSteps(): boolean {
    return this.#steps.some(({ kind }) => kind === "run" || kind === "copy" || kind === "npmInstall");
  }

  /** The first working directory, which contains all files of the image; undefined if the image names none. */
  get folder(): string | undefined {
    return this.#steps.find((step) => step.kind === "workdir")?.path;
  }

  /** The last working directory; undefined if the image names none. */
  get workingDirectory(): string | undefined {
    return this.#steps.findLast((step) => step.kind === "workdir")?.path;
  }

  /** The environment variables of all steps. */
  get environment(): Readonly<Record<string, string>> {
    const variables = this.#steps.filter((step) => step.kind === "env");
    return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  }

  /** The digest of the image: of its name, its steps, and the contents of the files that they copy. */
  get digest(): string {
    return this.#steps.reduce(stepDigest, baseDigest(this.base));
  }

  /** Returns the image as plain JSON. */
  toJSON(): ImageSpec {
    return { from: this.base, steps: this.#steps };
  }

  #with(...steps: readonly ImageStep[]): Image {
    return new Image(this.base, [...this.#steps, ...steps]);
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
