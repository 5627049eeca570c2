import type { Tensor } from "../value/tensor.js";
import { Module } from "./module.js";

/** A part of a {@link Sequential}: a module of one tensor, or a function such as `torch.gelu` or `(x) => x.relu()`. */
export type Layer = (Module & { forward(x: Tensor): Tensor }) | ((x: Tensor) => Tensor);

/** Applies layers one after another. The names of the layers are their indices: `0.weight`. */
export class Sequential extends Module {
  readonly #layers: readonly Layer[];

  /**
   * Makes the module.
   *
   * @param layers in the order in which they are applied
   */
  constructor(...layers: readonly Layer[]) {
    super();
    this.#layers = layers;
    // Properties, so that their state is found.
    Object.assign(this, layers);
  }

  /** Applies all layers. */
  forward(x: Tensor): Tensor {
    return this.#layers.reduce((y, layer) => (typeof layer === "function" ? layer(y) : layer.forward(y)), x);
  }
}
