/** Packs an image for the program in a pod: its steps, and the files that they copy. */
import { brotliCompressSync, constants } from "node:zlib";
import { defaultFolder } from "../manifest/layout.js";
import { contentDigest, maxCopied, readCopied } from "./copied-files.js";
import type { Image } from "./image.js";
import { baseDigest, type ImageOrder, type OrderedStep, stepDigest } from "./steps.js";

/** The steps of an image, and the compressed contents of the copied files, in order. */
export interface ImageBundle {
  readonly order: ImageOrder;
  readonly archive: Uint8Array;
}

/**
 * Reads the files of an image. Returns undefined for an image without steps.
 * @throws Error if files have changed since the image was made, or cannot be read
 * @throws RangeError if the files of all steps are too large together
 */
export function imageBundle(image: Image): ImageBundle | undefined {
  if (!image.hasSteps) return undefined;
  const contents: Buffer[] = [];
  let before = baseDigest(image.base);
  const steps = image.toJSON().steps.map((step): OrderedStep => {
    before = stepDigest(before, step);
    if (step.kind !== "copy") return { ...step, digest: before };
    const { context: _, ...copy } = step;
    const files = readCopied(step);
    if (contentDigest(files) !== step.content) {
      throw new Error(
        `cannot copy ${step.from} into an image: its files have changed since the image was described; run the program again`,
      );
    }
    contents.push(...files.map(({ content }) => content));
    const entries = files.map(({ path, type, isExecutable, content }) => ({
      path,
      type,
      isExecutable,
      length: content.length,
    }));
    return { ...copy, digest: before, files: entries };
  });
  const all = Buffer.concat(contents);
  if (all.length > maxCopied) {
    throw new RangeError(
      `cannot make an image: its steps copy ${all.length} bytes, and ${maxCopied} is the limit for all of them; bring larger files ` +
        'with sync: { roots: ["…"] } of the job, or put them on a volume',
    );
  }
  const archive = brotliCompressSync(all, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  return { order: { folder: image.folder ?? defaultFolder, steps, archiveLength: archive.length }, archive };
}
