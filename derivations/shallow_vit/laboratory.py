"""stub"""
from odesys.laboratory import BaseLaboratory

MUTATIONS = {"flip": ""}
class Laboratory(BaseLaboratory):
    mutations = MUTATIONS
