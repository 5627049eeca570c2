/** The functions of the pools, as tasks of Viceroy. */
import { task } from "viceroy/tasks";
import functions from "./peers/functions.cjs";

export const nothing = task(import.meta.url, "nothing", functions.nothing);
export const same = task(import.meta.url, "same", functions.same);
