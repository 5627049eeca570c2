/** child_process IPC with "advanced" serialization. */
import { startWith } from "./child-process.js";

export const start = (cpus) => startWith("advanced", cpus);
