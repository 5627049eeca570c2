// Imports the tensors of the built package, and asks for one.
import { torch } from "viceroy/tensor";

try {
  torch.ones([1]);
} catch (error) {
  console.log(`${error.code}: ${error.message}`);
}
