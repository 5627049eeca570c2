/**
 * Recipes make results again that all hosts have lost, by running their tasks again, if these may run several times. A recipe
 * keeps the arguments of the task, and the recipes of those arguments that are results. It keeps no large values: the results
 * themselves may be dropped, and are then made again, too.
 */
import type { DropDetector, DroppableReference } from "../kernel.js";
import { ObjectRef, type RefContext, recordOf } from "./object-ref.js";
import { lostReference, lostResult, type Remaking, Result } from "./result.js";

/** An argument: encoded, or a reference to a result. */
export type RecipePart = Uint8Array | ObjectRef<unknown>;

/** The parts of a recipe that all runs of the task have in common. */
export interface RecipeOptions {
  readonly member: RefContext;
  readonly label: string;
  /** The number of times that the task may be run again. */
  readonly retries: number;
  readonly drops: DropDetector;
  /** Returns the number of a new result. */
  readonly newId: () => number;
  /** Runs the task again, for a result that is pending. */
  readonly run: (result: Result, retries: number, parts: RecipePart[]) => void;
}

/** An argument that is a reference, which may have been dropped meanwhile. */
interface Input {
  readonly ref: DroppableReference<ObjectRef<unknown>>;
  readonly label: string;
  readonly codec: ReturnType<typeof recordOf>["codec"];
  /** Undefined: it was stored by `put`, belongs to another process, or its task may run only once. */
  readonly recipe: Recipe | undefined;
}

export class Recipe implements Remaking {
  readonly #options: RecipeOptions;
  readonly #parts: readonly (Uint8Array | Input)[];
  #retries: number;
  #result: DroppableReference<Result>;

  constructor(options: RecipeOptions, result: Result, parts: readonly RecipePart[]) {
    this.#options = options;
    this.#retries = options.retries;
    this.#result = options.drops.reference(result);
    this.#parts = parts.map((part) => (part instanceof ObjectRef ? inputOf(part, options.drops) : part));
  }

  remake(result: Result, reason: string): boolean {
    if (this.#retries === 0) return false;
    this.#retries--;
    result.pendingAgain(reason);
    this.#run(result);
    return true;
  }

  /** Returns the result. If nobody has it any more, it is made again under a new number. */
  #current(): Result {
    const known = this.#result.deref();
    if (known !== undefined && known.error === undefined) return known;
    const { newId, label, drops } = this.#options;
    const made = new Result(newId(), label);
    made.recipe = this;
    this.#result = drops.reference(made);
    if (this.#retries === 0) {
      made.reject(lostReference(label));
    } else {
      this.#retries--;
      this.#run(made);
    }
    return made;
  }

  #run(result: Result): void {
    const { member, run } = this.#options;
    const parts = this.#parts.map((part) => {
      if (part instanceof Uint8Array) return part;
      const { ref, recipe, codec, label } = part;
      const known = ref.deref();
      // A result that was released after the first run has an error, and is made again.
      const isThere = known !== undefined && recordOf(known).result.error === undefined;
      if (known !== undefined && (isThere || recipe === undefined)) return known;
      const result = recipe === undefined ? lostResult(label) : recipe.#current();
      return new ObjectRef({ member, codec, remote: undefined, result });
    });
    run(result, this.#retries, parts);
  }
}

function inputOf(ref: ObjectRef<unknown>, drops: DropDetector): Input {
  const { result, codec } = recordOf(ref);
  const recipe = result.recipe instanceof Recipe ? result.recipe : undefined;
  return { ref: drops.reference(ref), label: ref.label, codec, recipe };
}
