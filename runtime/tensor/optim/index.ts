/** Optimizers: what users import as `optim` from `viceroy/tensor`. */
export { Adam, type AdamOptions, AdamW } from "./adam.js";
export { FlatGradients } from "./flat-gradients.js";
export { type Group, Optimizer, type OptimizerState } from "./optimizer.js";
export { SGD, type SGDOptions } from "./sgd.js";
