/** A program that installs the packages of the environment in the file that its argument names, and prints the folder. */
import { readFileSync } from "node:fs";
import { installPackages } from "../../../runtime/tasks/environment/install-packages.js";

const [, , file = ""] = process.argv;
try {
  console.log(await installPackages(JSON.parse(readFileSync(file, "utf8"))));
} catch (error) {
  console.log((error as Error).message);
  process.exitCode = 1;
}
