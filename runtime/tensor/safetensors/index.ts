/** Files of tensors, in the format safetensors. */
export { type LoadOptions, loadTensors, type TensorFile, tensorsIn } from "./load.js";
export { type SaveOptions, saveTensors } from "./save.js";
