/**
 * Applies the steps of an image to the folder of its files. Where pods share a cache, the results of the steps that take long are there under
 * their digests, and each of them is made once.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeStep, type ImageOrder, type OrderedStep } from "../steps.js";
import { applyStep, type StepState } from "./apply-step.js";
import { clearFolder, StepCache } from "./step-cache.js";
import { withLock } from "./step-lock.js";

/** The file in the folder of the image that says how many steps have been applied to it. */
export const stateName = ".viceroy-image";

/**
 * Applies the steps, unless they have been applied already.
 * @param archive the contents of all copied files, in order
 * @param cache the folder that pods share
 * @param print gets lines about the progress
 * @throws StepError if a step fails
 */
export async function applyImage(
  order: ImageOrder,
  archive: Buffer,
  cache: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  const { folder, steps } = order;
  mkdirSync(folder, { recursive: true });
  const results = cache === undefined ? undefined : StepCache.open(cache);
  const state: StepState = { folder, directory: folder, env: { ...process.env }, archive, offset: 0, print };
  let done = await begin(order, results, print);
  for (const [index, step] of steps.entries()) {
    if (index < done) {
      passStep(state, step);
      continue;
    }
    const say = (what: string) => print(`step ${index + 1} of ${steps.length}, ${describeStep(step)}: ${what}`);
    const work = async () => {
      say("is applied");
      markBegun(folder);
      await applyStep(state, step, index + 1);
    };
    if (results === undefined || !isSlow(step)) await work();
    else {
      await withLock(results.lockOf(step.digest), async () => {
        // Another pod may have made it while this one has waited.
        if (results.has(step.digest)) {
          say("comes from the cache");
          markBegun(folder);
          await results.restore(step.digest, folder);
          passStep(state, step);
        } else {
          await work();
          await results.add(step.digest, folder);
        }
      });
    }
    done = index + 1;
    writeState(folder, step.digest);
  }
  results?.removeOld();
}

/** Returns the number of steps that need not be applied: the folder has them already, or gets them from the cache. */
async function begin(
  { folder, steps }: ImageOrder,
  results: StepCache | undefined,
  print: (line: string) => void,
): Promise<number> {
  const before = readState(folder);
  const applied = steps.findIndex(({ digest }) => digest === before) + 1;
  const cached =
    results === undefined ? 0 : steps.findLastIndex((step) => isSlow(step) && results.has(step.digest)) + 1;
  if (applied >= cached && applied > 0) {
    print(`${applied} of ${steps.length} steps have been applied before`);
    return applied;
  }
  markBegun(folder);
  // A step may have been interrupted here.
  clearFolder(folder);
  if (cached > 0) {
    print(`${cached} of ${steps.length} steps come from the cache`);
    await results!.restore(steps[cached - 1]!.digest, folder);
    writeState(folder, steps[cached - 1]!.digest);
  }
  return cached;
}

/** Returns whether the result of a step is worth keeping. The others are as quick as a look at the cache. */
function isSlow({ kind }: OrderedStep): boolean {
  return kind === "run" || kind === "npmInstall";
}

/** Does to the state what a step does that has been applied. */
function passStep(state: StepState, step: OrderedStep): void {
  if (step.kind === "env") state.env[step.name] = step.value;
  if (step.kind === "workdir") state.directory = step.path;
  for (const { length } of step.files ?? []) state.offset += length;
}

/** Returns the digest of the last step that was applied as a whole; undefined if one was interrupted. */
function readState(folder: string): string | undefined {
  const file = join(folder, stateName);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function markBegun(folder: string): void {
  rmSync(join(folder, stateName), { force: true });
}

function writeState(folder: string, digest: string): void {
  writeFileSync(join(folder, stateName), digest);
}
