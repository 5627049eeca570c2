/** Layers, and modules that are made of them: what users import as `nn` from `viceroy/tensor`. */
export { MultiHeadAttention, type MultiHeadAttentionOptions } from "./attention.js";
export { Dropout } from "./dropout.js";
export { Embedding } from "./embedding.js";
export type { LayerOptions } from "./initialize.js";
export { LayerNorm, type LayerNormOptions } from "./layer-norm.js";
export { Linear, type LinearOptions } from "./linear.js";
export { type LoadStateOptions, Module } from "./module.js";
export { buffer, parameter } from "./parameter.js";
export { type Layer, Sequential } from "./sequential.js";
