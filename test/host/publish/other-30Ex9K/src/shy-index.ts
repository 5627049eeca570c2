/** An index whose module causes trouble in a controller: it cannot be loaded there, or ends the process a little later. */
import { WordIndex } from "./word-index.js";

const trouble = process.argv[2] === "controller" ? process.env["TROUBLE"] : undefined;
if (trouble === "load") throw new Error("this module cannot be loaded by controllers");
if (trouble === "end") setTimeout(() => process.exit(9), 500);

export class ShyIndex extends WordIndex {}
