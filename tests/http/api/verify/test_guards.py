"""The operator's guards of codes: off unless set, told by ``data.limit``, and nothing is stored."""

import trio

from risala.config.model import LimitsSection

OTHER = "+22246123456"


async def test_off_they_change_nothing(desk, quick):
    assert [(await desk.send("pk_live")).status_code for _ in range(5)] == [200] * 5


async def test_codes_to_one_number_cool_down(open_desk, quick, refused):
    async with open_desk(limits=LimitsSection(verify_cooldown_s=30)) as desk:
        assert (await desk.send("pk_live")).status_code == 200
        before = desk.rows()
        for key in ("pk_live", "sk_live"):
            response = await desk.send(key)
            assert (await refused(response, 429))["data"] == {"limit": "cooldown"}
            assert response.headers["retry-after"] == "30"
        assert desk.rows() == before
        assert (await desk.send("pk_test")).status_code == 200
        assert (await desk.post("/api/verify/send", {"to": OTHER}, "pk_live")).status_code == 200
        await trio.sleep(30)
        assert (await desk.send("pk_live")).status_code == 200
        assert (await desk.send("pk_live")).headers["retry-after"] == "60"


async def test_numbers_of_other_networks_get_no_codes(open_desk, quick, refused):
    async with open_desk(limits=LimitsSection(verify_networks=("mattel",))) as desk:
        assert (await desk.send("pk_live")).status_code == 200
        before = desk.rows()
        for key in ("pk_live", "sk_live"):
            response = await desk.post("/api/verify/send", {"to": OTHER}, key)
            assert (await refused(response, 429))["data"] == {"limit": "network"}
            assert response.headers["retry-after"] == "86400"
        assert desk.rows() == before
        assert (await desk.post("/api/verify/send", {"to": OTHER}, "pk_test")).status_code == 200
