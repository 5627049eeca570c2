/** process.send with "advanced" serialization. */
import { startWith } from "./process-send.js";

export const start = (count) => startWith("advanced", count);
