/** The steps of an image: plain data, each with a digest that depends on all steps before it. */
import { createHash } from "node:crypto";
import type { CopiedFile } from "./copied-files.js";

/** A step as users describe it, and as a record contains it. */
export type ImageStep =
  | { readonly kind: "env"; readonly name: string; readonly value: string }
  /** A command of the shell in the working directory. */
  | { readonly kind: "run"; readonly command: string }
  /** An absolute path. */
  | { readonly kind: "workdir"; readonly path: string }
  /** Files of the driver's machine. */
  | {
      readonly kind: "copy";
      /** The file or folder on the driver's machine, relative to its working directory unless it is absolute. */
      readonly from: string;
      /** The absolute path in the image. */
      readonly to: string;
      /** The folder whose `.dockerignore` says which files are left out; absent if none are. */
      readonly context?: string;
      /** The digest of the paths, modes and contents. */
      readonly content: string;
    }
  /** Packages that npm installs: those of the copied lock, or the named ones. */
  | { readonly kind: "npmInstall"; readonly packages: readonly string[] };

/** A step as the program in the pod gets it. */
export type OrderedStep = ImageStep & {
  /** The digest of this step and all before it, in hex. */
  readonly digest: string;
  /** The copied files, in the order of their contents in the archive; absent for other steps. */
  readonly files?: readonly CopiedEntry[];
};

/** The content of the file `image.json`, which the program in the pod reads. */
export interface ImageOrder {
  /** The folder that contains all files of the image. */
  readonly folder: string;
  readonly steps: readonly OrderedStep[];
  /** The length of the archive of copied files in bytes. */
  readonly archiveLength: number;
}

/** A copied file as the program in the pod reads it. */
export type CopiedEntry = Omit<CopiedFile, "content"> & { readonly length: number };

/** Returns the digest of the name of a container image, with which the digests of steps begin. */
export function baseDigest(from: string): string {
  return digest("viceroy image 1", from);
}

/** Returns the digest of a step after another one. */
export function stepDigest(before: string, step: ImageStep): string {
  // The content of copied files counts, and not where they are on the driver's machine.
  const { from: _, context: __, ...parts } = { from: undefined, context: undefined, ...step };
  const sorted = Object.entries(parts).sort(([left], [right]) => (left < right ? -1 : 1));
  return digest(before, JSON.stringify(sorted));
}

function digest(...parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/** Returns a step as a line of a Dockerfile. */
export function describeStep(step: ImageStep): string {
  switch (step.kind) {
    case "env":
      return `ENV ${step.name}=${JSON.stringify(step.value)}`;
    case "run":
      return `RUN ${step.command}`;
    case "workdir":
      return `WORKDIR ${step.path}`;
    case "copy":
      return `COPY ${step.from} ${step.to}`;
    case "npmInstall":
      return step.packages.length === 0 ? "RUN npm ci" : `RUN npm install ${step.packages.join(" ")}`;
  }
}
