// SPDX-License-Identifier: GPL-3.0-or-later
// Flamenco job type `analytic-ik-bake`: put this file into the folder `scripts` beside flamenco-manager.
// Manual: docs/many_files.md

const JOB_TYPE = {
    label: "Analytic IK: Bake",
    description: "Bake live Analytic IK chains into keys, several files in each task",
    settings: [
        { key: "blendfile", type: "string", required: false, visible: "web",
          description: "File that is submitted from Blender" },
        { key: "files", type: "string", default: "", visible: "submission",
          description: "Other files instead, one on each line or separated by semicolons" },
        { key: "output_dir", type: "string", subtype: "dir_path", required: true,
          description: "Folder for the baked files and the reports" },
        { key: "chunk_size", type: "int32", default: 10, propargs: { min: 1, max: 1000 }, visible: "submission",
          description: "Files in each task" },
        { key: "frames", type: "string", default: "", description: "First and last frame, as 1-250. Empty: those of the scene" },
        { key: "action", type: "string", choices: ["COPY", "NEW", "CURRENT"], default: "COPY",
          description: "Action that gets the keys" },
        { key: "after", type: "string", choices: ["MUTE", "KEEP", "REMOVE"], default: "MUTE",
          description: "What becomes of the chains" },
        { key: "tolerance", type: "float", default: 0.0, propargs: { min: 0.0 },
          description: "Drop keys while the tip stays within this distance" },
        { key: "exe", type: "string", default: "analytic-ik", visible: "submission",
          description: "The command, or a variable of the Manager such as {analytic-ik}" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const files = filesOf(settings);
    if (!files.length) {
        throw "There is no file to bake. Save the file before you submit it, or name files in 'files'.";
    }
    const names = new Set(files.map(file => path.basename(file).toLowerCase()));
    if (names.size < files.length) {
        throw "Two files have the same name, so one would overwrite the other. Submit them as two jobs.";
    }
    const size = Math.max(1, settings.chunk_size || 1);
    for (let first = 0; first < files.length; first += size) {
        job.addTask(taskOf(settings, files.slice(first, first + size), first + 1));
    }
}

function filesOf(settings) {
    const given = (settings.files || "").split(/[;\r\n]/).map(file => file.trim()).filter(file => file);
    return given.length ? given : [settings.blendfile].filter(file => file);
}

// One worker process bakes the files of a task one after the other. If Blender crashes on one, the others go on.
function taskOf(settings, files, first) {
    const report = path.join(settings.output_dir, `report-${String(first).padStart(6, "0")}.json`);
    const args = ["bake"].concat(files, ["--output-dir", settings.output_dir, "--report", report, "--resume", "--jobs", "1"]);
    if (settings.frames) args.push("--frames", settings.frames);
    if (settings.action) args.push("--action", settings.action);
    if (settings.after) args.push("--after", settings.after);
    if (settings.tolerance) args.push("--tolerance", String(settings.tolerance));
    const last = first + files.length - 1;
    const task = author.Task(files.length > 1 ? `bake-${first}-${last}` : `bake-${path.stem(files[0])}`, "blender");
    task.addCommand(author.Command("exec", { exe: settings.exe || "analytic-ik", args: args }, 0));
    return task;
}
