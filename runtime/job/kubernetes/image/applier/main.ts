/**
 * The program in a pod that applies the steps of an image before the host starts: `image.cjs ORDER [CACHE]`. ORDER is the file with the steps,
 * with the parts of the archive of copied files beside it. CACHE is a folder that pods share.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { errorMessage } from "../../../../../shared/text/error-message.js";
import { stepFailed } from "../../manifest/layout.js";
import type { ImageOrder } from "../steps.js";
import { applyImage } from "./apply-image.js";
import { readParts } from "./read-parts.js";
import { endWithCommand } from "./run-command.js";
import { StepError } from "./step-error.js";

const [orderFile = "", cache] = process.argv.slice(2);
process.title = "viceroy image";
// The first process of a container ignores signals that it does not handle.
process.once("SIGTERM", endWithCommand);

async function main(): Promise<void> {
  const order = JSON.parse(readFileSync(orderFile, "utf8")) as ImageOrder;
  const archive = brotliDecompressSync(readParts(dirname(orderFile), "files"));
  await applyImage(order, archive, cache, (line) => console.log(`viceroy image: ${line}`));
}

main().catch((error) => {
  console.error(`viceroy image: ${errorMessage(error)}`);
  process.exitCode = error instanceof StepError ? stepFailed : 1;
});
