/** Loads and saves tensors in the safetensors format. */
export { type LoadOptions, loadTensors, type TensorFile, tensorsIn } from "./load.js";
export { type SaveOptions, saveTensors } from "./save.js";
