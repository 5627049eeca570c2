/** The base class of optimizers: the parameters, the number of steps and the state of each parameter. */
import { addon } from "../operation/addon.js";
import { capturedEffects, refuseReplay } from "../operation/capture.js";
import { noGrad } from "../value/grad.js";
import { isTensor, type Tensor } from "../value/tensor.js";
import { copyTensors, type TensorDict } from "../value/tensor-dict.js";
import { TensorScope } from "../value/tensor-scope.js";
import { torch } from "../value/torch.js";
import { StepNumbers } from "./step-numbers.js";

/** The state of an optimizer. */
export interface OptimizerState {
  /** The learning rate. */
  readonly lr: number;
  /** The number of steps of each parameter. Steps without a gradient do not count. */
  readonly steps: readonly number[];
  /** The tensors of the state, by kind and index of the parameter: `exp_avg.0`. */
  readonly tensors: TensorDict;
}

/** The parameters of one step that have gradients. All lists have the same order. */
export interface Group {
  /** The parameters. */
  readonly parameters: readonly Tensor[];
  /** Their gradients. */
  readonly gradients: readonly Tensor[];
  /** The number of steps of each parameter, this one included. */
  readonly steps: readonly number[];
  /**
   * Returns the tensors of the state of one kind.
   *
   * @param kind the name of the kind: `exp_avg`
   */
  kept(kind: string): readonly Tensor[];
  /**
   * Calls an operation with a number that depends on the learning rate. Replays of a {@link recorded} step compute the number
   * again.
   *
   * @param name the name of the operation, with its overload
   * @param args the arguments, in order
   * @param number returns the number
   * @param keyword the name of the number's parameter; without it, the number is the last argument
   * @returns the result of the operation
   */
  callWithNumber(name: string, args: readonly unknown[], number: () => number, keyword?: string): unknown;
  /**
   * Calls an operation whose last argument is a number for each parameter, which depends on the number of steps or on the
   * learning rate. Replays of a {@link recorded} step compute the numbers again.
   *
   * @param name the name of the operation, with its overload
   * @param args the other arguments, in order
   * @param number returns the number of a parameter from its number of steps
   * @returns the result of the operation
   */
  callWithNumbers(name: string, args: readonly unknown[], number: (step: number) => number): unknown;
}

/**
 * The base class of optimizers. One operation of libtorch changes all parameters, so that a step on a mesh sends few
 * commands.
 */
export abstract class Optimizer {
  /** The parameters. */
  readonly parameters: readonly Tensor[];
  readonly #kept: ReadonlyMap<string, readonly Tensor[]>;
  #steps: number[];
  #lr: number;
  /** Whether `update` runs, outside of functions that compute numbers. */
  #isUpdating = false;
  /** Whether `update` has used the learning rate in a way that a replay cannot repeat. */
  #hasUsedRate = false;

  /**
   * Checks the parameters, and makes the state, which is initially 0.
   *
   * @param parameters tensors that require gradients, each once
   * @param lr the learning rate, from 0
   * @param kinds the kinds of tensors that the state has for each parameter
   * @throws {TypeError} when a parameter does not require gradients, or is given twice
   * @throws {RangeError} when the learning rate is out of range
   */
  constructor(parameters: Iterable<Tensor>, lr: number, kinds: readonly string[]) {
    this.parameters = [...parameters];
    checkParameters(this.parameters);
    checkNumber("lr", lr);
    this.#lr = lr;
    this.#steps = this.parameters.map(() => 0);
    // Now, and not with the first step: who makes steps in a scope would lose what is made there.
    this.#kept = new Map(kinds.map((kind) => [kind, this.parameters.map((one) => torch.zeros_like(one))]));
  }

  /**
   * The learning rate, which can be changed between steps.
   *
   * @throws {RangeError} when it is set to a number that is out of range
   */
  get lr(): number {
    if (this.#isUpdating) this.#hasUsedRate = true;
    return this.#lr;
  }

  set lr(rate: number) {
    checkNumber("lr", rate);
    refuseReplay("it sets a learning rate: set it between calls");
    this.#lr = rate;
  }

  /** Changes all parameters that have gradients. */
  step(): void {
    using _ = new TensorScope();
    noGrad(() => {
      const gradients = this.parameters.map((one) => one.grad);
      const isUsed = gradients.map((one) => one !== null);
      const has = <T>(_: T, i: number) => isUsed[i]!;
      let steps = this.#steps.map((made, i) => (isUsed[i] ? made + 1 : made));
      const replayed = capturedEffects();
      replayed?.actions.push(() => {
        steps = this.#steps.map((made, i) => (isUsed[i] ? made + 1 : made));
        this.#steps = steps;
      });
      const numbers = new StepNumbers(
        () => steps.filter(has),
        (compute) => this.#compute(compute),
      );
      const group: Group = {
        parameters: this.parameters.filter(has),
        gradients: gradients.filter((one) => one !== null),
        steps: steps.filter(has),
        kept: (kind) => this.#kept.get(kind)!.filter(has),
        callWithNumber: (...args) => numbers.callWithNumber(...args),
        callWithNumbers: (...args) => numbers.callWithNumbers(...args),
      };
      if (group.parameters.length > 0) this.#update(group);
      this.#steps = steps;
      if (!this.#hasUsedRate) return;
      const rate = this.#lr;
      replayed?.checks.push(() => (this.#lr === rate ? undefined : "a learning rate has changed"));
    });
  }

  #update(group: Group): void {
    this.#hasUsedRate = false;
    this.#isUpdating = true;
    try {
      this.update(group);
    } finally {
      this.#isUpdating = false;
    }
  }

  /** Computes a number, for which the learning rate can be used. */
  #compute<T>(compute: () => T): T {
    const outer = this.#isUpdating;
    this.#isUpdating = false;
    try {
      return compute();
    } finally {
      this.#isUpdating = outer;
    }
  }

  /** Changes the parameters in place. Tensors that it makes are disposed of afterwards. */
  protected abstract update(group: Group): void;

  /** Sets the gradients of all parameters to null, so that the next `backward` starts from zero. */
  zeroGrad(): void {
    for (const one of this.parameters) one.grad = null;
  }

  /** Returns the state. The tensors are not copied. */
  stateDict(): OptimizerState {
    return { lr: this.#lr, steps: [...this.#steps], tensors: this.#tensors() };
  }

  /**
   * Copies the state of an optimizer into this one. If it throws, nothing has been copied.
   *
   * @param state the state of an optimizer of the same class and parameters
   * @throws {TypeError} when names, shapes or types do not match
   * @throws {RangeError} when a number is out of range
   */
  loadStateDict({ lr, steps, tensors }: OptimizerState): void {
    checkNumber("lr", lr);
    if (!Array.isArray(steps) || steps.length !== this.parameters.length || !steps.every(isStepCount)) {
      throw new RangeError(
        `cannot load the state of ${this.constructor.name}: steps must be ${this.parameters.length} integers from 0 on, got ${JSON.stringify(steps)}`,
      );
    }
    refuseReplay("it loads the state of an optimizer");
    copyTensors(this.#tensors(), tensors, this.constructor.name, true);
    this.#lr = lr;
    this.#steps = [...steps];
  }

  /** Frees the state, but not the parameters. Disposing again has no effect. */
  dispose(): void {
    for (const one of Object.values(this.#tensors())) one.dispose();
  }

  /** Frees the state at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #tensors(): TensorDict {
    return Object.fromEntries([...this.#kept].flatMap(([kind, all]) => all.map((one, i) => [`${kind}.${i}`, one])));
  }
}

function checkParameters(parameters: readonly Tensor[]): void {
  if (parameters.length === 0) throw new RangeError("cannot make an optimizer: it has no parameters");
  if (!parameters.every(isTensor)) throw new TypeError("cannot make an optimizer: its parameters must be tensors");
  if (new Set(parameters).size < parameters.length) {
    throw new RangeError("cannot make an optimizer: a parameter is given twice");
  }
  const places = new Set(parameters.map((one) => addon().recordedReferenceOf(one)?.[0]));
  if (places.size > 1) throw new RangeError("cannot make an optimizer: its parameters are not all in one place");
}

/** @throws RangeError for what is no number from 0 on, below a limit */
export function checkNumber(name: string, value: number, below = Number.POSITIVE_INFINITY): void {
  if (value >= 0 && value < below) return;
  const range = below === Number.POSITIVE_INFINITY ? "from 0 on" : `from 0 to below ${below}`;
  throw new RangeError(`cannot optimize: ${name} must be a number ${range}, got ${value}`);
}

function isStepCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
