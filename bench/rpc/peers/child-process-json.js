/** child_process IPC with "json" serialization. */
import { startWith } from "./child-process.js";

export const start = (cpus) => startWith("json", cpus);
