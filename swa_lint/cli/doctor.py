"""`swa-lint doctor`: what the guard will do here, or what pools two checkpoints will get."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from swa_lint.cli import CLEAN, FINDINGS, Failure

if TYPE_CHECKING:
    from swa_lint.doctor import Prediction


@click.command()
@click.option("--target", type=click.Path(), metavar="DIR", help="The target's checkpoint: a folder with config.json.")
@click.option("--draft", type=click.Path(), metavar="DIR", help="The draft's checkpoint.")
@click.option("--page-size", type=click.IntRange(1), metavar="N", help="The server's --page-size.")
@click.option("--dcp-size", type=click.IntRange(1), default=1, metavar="N", help="The server's --dcp-size.")
@click.option("--sglang-version", metavar="X", help="The SGLang to predict for (default: the installed one).")
def doctor(
    target: str | None, draft: str | None, page_size: int | None, dcp_size: int, sglang_version: str | None
) -> int:
    """Say what the runtime guard will do in this environment, or predict the pools of two checkpoints.

    Without options, run it with the Python that serves: exit status 0 where the guard is active, 1 where it is not.
    With --target and --draft: 0 where both pools can share pages, 1 where they cannot.
    """
    from swa_lint.doctor import inspect_environment, installed_sglang, is_version

    if target is None and draft is None:
        if page_size is not None or dcp_size != 1 or sglang_version is not None:
            raise click.UsageError("--page-size, --dcp-size and --sglang-version need --target and --draft")
        environment = inspect_environment()
        click.echo("\n".join(environment.lines))
        return CLEAN if environment.active else FINDINGS
    if target is None or draft is None:
        raise click.UsageError("give both --target and --draft")
    if sglang_version is not None and not is_version(sglang_version):
        raise click.UsageError(f"--sglang-version {sglang_version!r} is no version such as 0.5.17")
    version = sglang_version or installed_sglang()
    prediction = _prediction(target, draft, page_size, dcp_size, version)
    click.echo("\n".join(_lines(prediction, page_size, dcp_size)))
    return FINDINGS if prediction.found else CLEAN


def _prediction(target: str, draft: str, page_size: int | None, dcp_size: int, version: str | None) -> Prediction:
    from swa_lint.doctor import predict
    from swa_lint.project.config_pairs import ConfigPairError, named_config

    try:
        configs = [
            named_config(directory, Path.cwd(), {}, option)
            for directory, option in ((target, "--target"), (draft, "--draft"))
        ]
    except ConfigPairError as error:
        raise Failure(str(error)) from None
    return predict(*configs, page_size=page_size, dcp_size=dcp_size, version=version)


def _lines(prediction: Prediction, page_size: int | None, dcp_size: int) -> list[str]:
    lines = [
        f"{role + ':':8}{geometry}" for role, geometry in (("target", prediction.target), ("draft", prediction.draft))
    ]
    if prediction.page.forced_by is not None and prediction.page.tokens != page_size:
        lines.append(
            f"page size: {prediction.page.tokens}, set by {prediction.page.forced_by}; --page-size has no effect"
        )
    elif prediction.page.tokens is None:
        lines.append("page size: not known before the launch; both pools get the same one")
    if dcp_size > 1 and prediction.draft.page_size != prediction.target.page_size:
        lines.append(f"page size: the draft's is multiplied by --dcp-size {dcp_size}, the target's is not")
    if not prediction.one_family:
        return [*lines, "verdict: models of two families; neither SGLang nor swa-lint compares their pools"]
    if not prediction.found:
        return [*lines, "verdict: the two pools can share pages"]
    lines += [f"differs: {difference}" for difference in prediction.found]
    if prediction.refusal is not None:
        return [*lines, f"verdict: under prefill/decode disaggregation SGLang refuses: {prediction.refusal}"]
    if prediction.paired:
        return [*lines, "verdict: this SGLang compares nothing; under disaggregation the output is wrong"]
    return [*lines, "verdict: SGLang does not compare the pools of these models; align the values all the same"]
