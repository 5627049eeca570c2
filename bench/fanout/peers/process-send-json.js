/** process.send with "json" serialization. */
import { startWith } from "./process-send.js";

export const start = (count) => startWith("json", count);
