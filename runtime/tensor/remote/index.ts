/**
 * Functions that run on the processes of a mesh, as actors of nobody: a module makes one known by its own place and a name, and whoever has
 * imported the module can have it run there, with tensors of the mesh as arguments and answers.
 */
import type { RemoteName, TensorRunnerMesh } from "../../../generated/tensor.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ValueMesh } from "../../index.js";
import { TensorError } from "../errors.js";
import { currentMesh, type TensorMesh } from "../mesh.js";
import { rref, type Shapes, type ShapesOf } from "../rref.js";
import { tensorArguments } from "../support.js";
import { makeKnown } from "./functions.js";
import { FunctionRunner } from "./runner.js";
import { readValues, writeValues } from "./values.js";

/** A function that `remote` has made known. `P`: what `rref` answers. */
export class RemoteFunction<A extends unknown[], R, P> {
  readonly #called: RemoteName;
  readonly #shapes: ((...args: A) => Shapes) | undefined;

  /** Made by `remote`. */
  constructor(called: RemoteName, shapes: ((...args: A) => Shapes) | undefined) {
    this.#called = called;
    this.#shapes = shapes;
  }

  /**
   * Runs it on all processes of the mesh that is active; answers what each answers.
   * @throws TensorError outside of `activate`; TypeError for arguments that are neither tensors nor what JSON has
   */
  call(...args: A): Promise<ValueMesh<R>> {
    const { name } = this.#called;
    const runner = runnerOf(activeMesh(name));
    const values = () => writeValues(name, args);
    const answers = tensorArguments.lend({ label: name, procs: procsOf(runner) }, () =>
      runner.run.call(this.#called, values()),
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
    const { name } = this.#called;
    const runner = runnerOf(activeMesh(name));
    const to = { label: name, procs: procsOf(runner) };
    const send = (key: unknown) =>
      tensorArguments
        .lend(to, () => runner.keep.callSettled(this.#called, key as never, writeValues(name, args)))
        .then((outcomes) => outcomes.values());
    return rref({ ...to, args, send }, this.#shapes as ((...args: never[]) => Shapes) | undefined) as P;
  }

  toString(): string {
    return `RemoteFunction ${this.#called.name}`;
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
  makeKnown(called, run as (...args: never[]) => unknown);
  return new RemoteFunction(called, shapes as ((...args: A) => Shapes) | undefined);
}

function runnerOf(mesh: TensorMesh): TensorRunnerMesh<string> {
  return mesh.beside("runners", FunctionRunner);
}

function activeMesh(name: string): TensorMesh {
  const mesh = currentMesh();
  if (mesh !== undefined) return mesh;
  throw new TensorError(
    "ERR_TENSOR_INACTIVE",
    `cannot run ${name} on a mesh: none is active; call it in the function that procs.activate() runs`,
  );
}
