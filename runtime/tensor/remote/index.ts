/**
 * Functions that run on the procs of a mesh. A module registers a function under its URL and a name, and the procs import the
 * module when the function is called. Arguments and results can be tensors of the mesh.
 */
import type { RemoteName, TensorRunnerMesh } from "../../../generated/tensor.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ValueMesh } from "../../index.js";
import { type ResultShapes, rref, type ShapesOf } from "../call/rref.js";
import { LendingMessage } from "../call/tensor-interceptor.js";
import { TensorError } from "../errors.js";
import { currentMesh } from "../mesh/active-meshes.js";
import type { TensorMesh } from "../mesh/tensor-mesh.js";
import { registerFunction } from "./function-registry.js";
import { readValues, writeValues } from "./remote-values.js";
import { FunctionRunner } from "./runner.js";

/** A function that can run on the procs of a mesh. {@link remote} makes it. `P` is the result of `rref`. */
export class RemoteFunction<A extends unknown[], R, P> {
  readonly #name: RemoteName;
  readonly #shapes: ((...args: A) => ResultShapes) | undefined;

  /**
   * Called by {@link remote}.
   *
   * @hidden
   */
  constructor(called: RemoteName, shapes: ((...args: A) => ResultShapes) | undefined) {
    this.#name = called;
    this.#shapes = shapes;
  }

  /**
   * Runs the function on all procs of the active mesh.
   *
   * @param args tensors, and values that JSON has
   * @returns the results, one for each rank
   * @throws {TensorError} when no mesh is active
   * @throws {TypeError} when an argument is neither a tensor nor a value that JSON has
   */
  call(...args: A): Promise<ValueMesh<R>> {
    const { name } = this.#name;
    const runner = runnerActorsOf(requireCurrentMesh(name));
    const message = new LendingMessage({ label: name, procs: procsOf(runner) });
    const answers = runner.run.call(this.#name, writeValues(name, args, message.handles));
    message.afterSend();
    return answers.then((all) =>
      ValueMesh.of(
        all.extent,
        [...all.values()].map((answer) => readValues(answer)[0] as R),
      ),
    );
  }

  /**
   * Runs the function on all procs of the active mesh, and leaves the results there, as tensors of the mesh.
   *
   * @param args tensors, and values that JSON has
   * @returns a tensor or a list of tensors; a promise of it unless the function has `shapes`
   * @throws {TensorError} when no mesh is active
   * @throws {TypeError} when an argument is neither a tensor nor a value that JSON has
   */
  rref(...args: A): P {
    const { name } = this.#name;
    const runner = runnerActorsOf(requireCurrentMesh(name));
    const to = { label: name, procs: procsOf(runner) };
    const send = (key: unknown) => {
      const message = new LendingMessage(to);
      const outcomes = runner.keep.callSettled(this.#name, key as never, writeValues(name, args, message.handles));
      message.afterSend();
      return outcomes.then((all) => all.values());
    };
    return rref({ ...to, args, send }, this.#shapes as ((...args: never[]) => ResultShapes) | undefined) as P;
  }

  /** Returns the name of the function as text. */
  toString(): string {
    return `RemoteFunction ${this.#name.name}`;
  }
}

/**
 * Defines a function that can run on the procs of a mesh. Procs import the module when the function is first called
 * there, so that the module must have the same path everywhere. Arguments and results are tensors, and values that JSON
 * has.
 *
 * @example
 * ```ts
 * import { remote, type Tensor } from "viceroy/tensor";
 *
 * export const scaled = remote(import.meta.url, "scaled", (x: Tensor, by: number) => x.mul(by));
 * ```
 *
 * @param module `import.meta.url` of the module that exports the function
 * @param name the name of the export
 * @param run the function
 */
export function remote<A extends unknown[], R>(
  module: string,
  name: string,
  run: (...args: A) => R,
): RemoteFunction<A, Awaited<R>, Promise<Awaited<R>>>;
/**
 * Defines a function whose `rref` need not wait for the shapes of its results.
 *
 * @param module `import.meta.url` of the module that exports the function
 * @param name the name of the export
 * @param run the function
 * @param shapes returns shape and type of each result
 */
export function remote<A extends unknown[], R>(
  module: string,
  name: string,
  run: (...args: A) => R,
  shapes: (...args: A) => ShapesOf<Awaited<R>>,
): RemoteFunction<A, Awaited<R>, Awaited<R>>;
export function remote<A extends unknown[], R>(
  module: string,
  name: string,
  run: (...args: A) => R,
  shapes?: (...args: A) => ShapesOf<Awaited<R>>,
): RemoteFunction<A, Awaited<R>, unknown> {
  const called = { module, name };
  registerFunction(called, run as (...args: never[]) => unknown);
  return new RemoteFunction(called, shapes as ((...args: A) => ResultShapes) | undefined);
}

function runnerActorsOf(mesh: TensorMesh): TensorRunnerMesh<string> {
  return mesh.companionActors("runners", FunctionRunner);
}

function requireCurrentMesh(name: string): TensorMesh {
  const mesh = currentMesh();
  if (mesh !== undefined) return mesh;
  throw new TensorError(
    "ERR_TENSOR_INACTIVE",
    `cannot run ${name} on a mesh: none is active; call it in the function that procs.activate() runs`,
  );
}
