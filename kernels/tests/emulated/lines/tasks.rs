//! Tasks of one kernel.

use super::on;
use gridsync_kernels::grid::tasks::Tasks;

#[test]
fn faults_in_tasks_name_the_caller() {
    // A plan of zeros has no tasks, so only the end of the list is reached.
    walk! {
        on(2, 64) => |zeros| {
            let mut tasks = Tasks::attach(zeros.of(0, 40), zeros.of(1, 8));
            while let Some(task) = tasks.next() {
                if !task.is_barrier() {
                    let words = zeros.of(2, 8);
                    task.send(words, 0, task.argument(0));
                    let value = task.input(0) + task.receive(words, [0])[0];
                    task.finish(value);
                }
            }
        };
    }
}
