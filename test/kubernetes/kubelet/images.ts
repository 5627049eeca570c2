/** The images that nodes of the stand-in have. Their files are those of this machine, so only the program differs. */

/** An image with Node.js alone, which the real nodes of the lab have, too. */
export const nodeImage = "viceroy.test/node:1";

/** An image whose containers run no process and are ready at once, for tests with many pods. */
export const idleImage = "viceroy.test/idle:1";

/** Returns the command that a container of an image runs without a command of its own, or undefined if there is no such image. */
export function entrypointOf(image: string): readonly string[] | undefined {
  if (image === nodeImage) return [process.execPath];
  return image === idleImage ? [] : undefined;
}
