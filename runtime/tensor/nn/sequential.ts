import type { Tensor } from "../tensor.js";
import { Module } from "./module.js";

/** What can be part of a Sequential: a module of one tensor, or a function: `torch.gelu`, `(x) => x.relu()`. */
export type Layer = (Module & { forward(x: Tensor): Tensor }) | ((x: Tensor) => Tensor);

/** Layers one after the other. Their names are their places: `0.weight`. */
export class Sequential extends Module {
  readonly #layers: readonly Layer[];

  constructor(...layers: readonly Layer[]) {
    super();
    this.#layers = layers;
    // Properties, so that their state is found.
    Object.assign(this, layers);
  }

  forward(x: Tensor): Tensor {
    return this.#layers.reduce((y, layer) => (typeof layer === "function" ? layer(y) : layer.forward(y)), x);
  }
}
