/**
 * Functions that run on the processes of a mesh, as actors of nobody: a module makes one known by its own place and a name, and whoever has
 * imported the module can have it run there, with tensors of the mesh as arguments and answers.
 */
import type { RemoteName, TensorRunnerMesh } from "../../../generated/tensor.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ValueMesh } from "../../index.js";
import { TensorError } from "../errors.js";
import { currentMesh, type TensorMesh } from "../mesh.js";
import { type ResultShapes, rref, type ShapesOf } from "../rref.js";
import { tensorArguments } from "../support.js";
import { registerFunction } from "./functions.js";
import { FunctionRunner } from "./runner.js";
import { readValues, writeValues } from "./values.js";

/** A function that `remote` has made known. `P`: what `rref` answers. */
export class RemoteFunction<A extends unknown[], R, P> {
  readonly #name: RemoteName;
  readonly #shapes: ((...args: A) => ResultShapes) | undefined;

  /** Made by `remote`. */
  constructor(called: RemoteName, shapes: ((...args: A) => ResultShapes) | undefined) {
    this.#name = called;
    this.#shapes = shapes;
  }

  /**
   * Runs it on all processes of the mesh that is active; answers what each answers.
   * @throws TensorError outside of `activate`; TypeError for arguments that are neither tensors nor what JSON has
   */
  call(...args: A): Promise<ValueMesh<R>> {
    const { name } = this.#name;
    const runner = runnerActorsOf(requireCurrentMesh(name));
    const values = () => writeValues(name, args);
    const answers = tensorArguments.lend({ label: name, procs: procsOf(runner) }, () =>
      runner.run.call(this.#name, values()),
    );
    return answers.then((all) =>
      ValueMesh.of(
        all.extent,
        [...all.values()].map((answer) => readValues(answer)[0] as R),
      ),
    );
  }

  /** The same, and the answers, tensors or lists of them, stay there as tensors of the mesh, as those of actors do. */
  rref(...args: A): P {
    const { name } = this.#name;
    const runner = runnerActorsOf(requireCurrentMesh(name));
    const to = { label: name, procs: procsOf(runner) };
    const send = (key: unknown) =>
      tensorArguments
        .lend(to, () => runner.keep.callSettled(this.#name, key as never, writeValues(name, args)))
        .then((outcomes) => outcomes.values());
    return rref({ ...to, args, send }, this.#shapes as ((...args: never[]) => ResultShapes) | undefined) as P;
  }

  toString(): string {
    return `RemoteFunction ${this.#name.name}`;
  }
}

/**
 * Makes a function known that can be run on the processes of a mesh: `export const scaled = remote(import.meta.url, "scaled", (x: Tensor,
 * by: number) => x.mul(by))`. Processes import the module when it is first called there: it must be found at the same place by all.
 * Arguments and answers are tensors, and what JSON has.
 * @param module `import.meta.url`
 * @param name of this one in the module
 * @param shapes tells shape and type of what is answered, so that `rref` need not wait for that
 */
export function remote<A extends unknown[], R>(
  module: string,
  name: string,
  run: (...args: A) => R,
): RemoteFunction<A, Awaited<R>, Promise<Awaited<R>>>;
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
